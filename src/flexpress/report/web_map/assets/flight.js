// Where a drone is: it flies from stop to stop along each leg, and hovers at every client.

// One entry per leg: its points, the metres from its start to each, and when it is flown.
function legsOf(tour, plan) {
  if (!tour.clients.length) return [];
  const stops = [plan.server, ...tour.clients.map((i) => plan.clients[i]), plan.server];
  const arrivals = [...tour.arrivals, tour.round_trip];
  return arrivals.map((arrival, leg) => {
    const points = [stops[leg], ...(tour.corners[leg] ?? []), stops[leg + 1]];
    const departure = leg ? arrivals[leg - 1] + plan.transfer_time : 0;
    return { points, marks: marksAlong(points), departure, arrival };
  });
}

function marksAlong(points) {
  const marks = [0];
  for (let p = 1; p < points.length; p++) {
    const [dx, dy] = [points[p][0] - points[p - 1][0], points[p][1] - points[p - 1][1]];
    marks.push(marks[p - 1] + Math.hypot(dx, dy));
  }
  return marks;
}

// The last of `count` for which the test holds, if it holds for the first ones; -1 if for none.
function lastWhere(count, test) {
  let [low, high] = [-1, count - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (test(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

// State, place, leg, the share of the hover that is over, and points of the leg left behind.
function droneAt(legs, time) {
  const leg = Math.max(lastWhere(legs.length, (l) => legs[l].departure <= time), 0);
  const { points, marks, departure, arrival } = legs[leg];
  const end = points[points.length - 1];
  if (time >= arrival) {
    const home = leg === legs.length - 1;
    const next = home ? arrival : legs[leg + 1].departure;
    const hovered = next > arrival ? (time - arrival) / (next - arrival) : 1;
    return { state: home ? "home" : "hovering", place: end, leg, hovered, passed: points.length };
  }
  const metres = (marks[marks.length - 1] * (time - departure)) / (arrival - departure);
  const from = Math.max(lastWhere(marks.length - 1, (p) => marks[p] <= metres), 0);
  const share = (metres - marks[from]) / (marks[from + 1] - marks[from] || 1);
  const place = [0, 1].map((axis) => points[from][axis] + share * (points[from + 1][axis] - points[from][axis]));
  return { state: time > 0 ? "flying" : "waiting", place, leg, hovered: 0, passed: from + 1 };
}

// How many clients have their model: those whose transfer has ended.
const visitsDone = (tour, plan, time) =>
  lastWhere(tour.arrivals.length, (v) => tour.arrivals[v] + plan.transfer_time <= time) + 1;

function clockText(seconds) {
  const whole = Math.floor(seconds + 1e-6);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
