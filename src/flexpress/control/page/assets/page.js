// Small things that all parts of the page use.

// An element with attributes; those that are functions listen.
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true || value === false) made[key] = value;
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const clicked = (id, act) => byId(id).addEventListener("click", act);

const surface = byId("surface");

// What was typed: a number if it is one, else text with its unit; null if there is nothing.
function typed(text) {
  const given = text.trim();
  if (!given) return null;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given) ? Number(given) : given;
}

const shownValue = (value) => (value === undefined || value === null ? "" : String(value));

// "46.5, 7.9" as two numbers; null if it is blank.
function pairOf(text) {
  if (!text.trim()) return null;
  const numbers = text.split(/[\s,;]+/).filter(Boolean).map(Number);
  if (numbers.length === 2 && numbers.every(Number.isFinite)) return numbers;
  throw new Error(`${text}: must be latitude, longitude in degrees, such as 46.55, 8.01`);
}

// Fill a list of rows without losing the focus: a row that says the same stays as it is.
function fillRows(body, entries, key, build) {
  const old = new Map([...body.children].map((row) => [row.dataset.row, row]));
  const rows = entries.map((entry) => {
    const now = JSON.stringify(key(entry));
    const known = old.get(now);
    if (known) return known;
    const row = build(entry);
    row.dataset.row = now;
    return row;
  });
  const same = rows.length === body.children.length && rows.every((row, r) => body.children[r] === row);
  if (!same) keepingFocus(body, () => body.replaceChildren(...rows));
}

// Who is typing in a row goes on typing in the row that takes its place.
function keepingFocus(body, change) {
  const active = document.activeElement;
  const label = body.contains(active) ? active.getAttribute("aria-label") : null;
  change();
  if (label === null || body.contains(active)) return;
  const heir = [...body.querySelectorAll("[aria-label]")].find((each) => each.getAttribute("aria-label") === label);
  if (heir?.tagName === "INPUT" && heir.type === "text") heir.value = active.value;
  heir?.focus();
}

function refuse(text) {
  byId("refusal").textContent = text;
  byId("refusal").hidden = !text;
}
