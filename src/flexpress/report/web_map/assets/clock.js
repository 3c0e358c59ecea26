// The time since take-off: a slider, a button that lets it run, and how fast.

const PACES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
const SHOW = 25; // seconds that a whole round takes, about, unless another speed is chosen
const [PLAY, PAUSE] = ["M4 2.5l9.5 5.5L4 13.5z", "M4 2.5h3v11h-3zM9 2.5h3v11h-3z"];

class Clock {
  constructor(longest, onTime) {
    [this.onTime, this.time, this.last, this.frame] = [onTime, 0, null, 0];
    this.slider = byId("time");
    this.slider.addEventListener("input", () => this.set(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => this.step(event));
    byId("play").addEventListener("click", () => this.toggle());
    this.cover(longest);
    this.pause();
  }

  // Run from 0 to the longest round trip.
  cover(longest) {
    this.longest = longest;
    this.slider.max = longest;
    this.offerPaces();
    this.set(0);
  }

  offerPaces() {
    const enough = PACES.filter((pace) => pace <= Math.max(this.longest / 4, 1));
    byId("speed").replaceChildren(...enough.map((pace) => new Option(`${pace} ×`, pace)));
    byId("speed").value = enough.findLast((pace) => pace <= this.longest / SHOW) ?? 1;
  }

  set(time) {
    this.time = within(0, time, this.longest);
    this.slider.value = this.time;
    byId("time-text").textContent = `${clockText(this.time)} / ${clockText(this.longest)}`;
    this.slider.setAttribute("aria-valuetext", `${clockText(this.time)} minutes of ${clockText(this.longest)}`);
    this.onTime(this.time);
  }

  // Arrow keys move by a hundredth, page keys by a tenth, the same in every browser.
  step(event) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!steps) return;
    event.preventDefault();
    this.set(this.time + (steps * this.longest) / 100);
  }

  get running() {
    return this.last !== null;
  }

  toggle() {
    if (this.running) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.longest) this.set(0);
    this.last = performance.now();
    this.label("Pause", PAUSE);
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    this.last = null;
    cancelAnimationFrame(this.frame);
    this.label("Play", PLAY);
  }

  label(name, icon) {
    byId("play").setAttribute("aria-label", name);
    byId("play").title = `${name} (space)`;
    byId("play-icon").setAttribute("d", icon);
  }

  tick(now) {
    const passed = Math.max(now - this.last, 0) / 1000;
    this.last = now;
    this.set(this.time + passed * Number(byId("speed").value));
    if (this.time >= this.longest) this.pause();
    else this.frame = requestAnimationFrame((next) => this.tick(next));
  }
}
