// Begin: the page is filled, coloured and drawn.

function colour() {
  readPageColours();
  for (const tour of app.tours) tour.shade = tourColour(tour);
  colourDrones(app.drones);
  colourTable(app);
  app.redraw();
}

fillHeader(plan);
fillTable(app);
fillKey(app);
app.drones = makeDrones(byId("drones"), app);
const clock = new Clock(Math.max(...app.tours.map((tour) => tour.round_trip)), (time) => {
  app.time = time;
  markVisits(app);
  if (app.shown?.thing.drone) app.placeTip();
  app.redraw("clients", "drones");
});
app.choose(null);
colour();
dark.addEventListener("change", colour);
new ResizeObserver(() => look((view) => view.resize(surface.clientWidth, surface.clientHeight))).observe(surface);
