// Curves and trends by uPlot, and the camera's picture of now while the table gives one.
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const axis = (label, more) => ({
  stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, label: label || undefined, labelSize: label ? 18 : 0, ...more,
});
const axes = (place) => [axis(place.dataset.x), axis(place.dataset.y, { size: 56 })];

async function curves() {
  const place = document.getElementById("speed");
  const tosses = await (await fetch("/technician/curves.json")).json();
  if (!tosses.length) { place.textContent = "–"; return; }
  const longest = Math.max(...tosses.map((one) => one.seconds));
  const points = 80;
  const x = Array.from({ length: points }, (_, i) => (i * longest) / (points - 1));
  const data = [x, ...tosses.map((one) => x.map((at) => {
    const place = (at / one.seconds) * (one.speeds.length - 1);
    return place > one.speeds.length - 1 ? null : one.speeds[Math.round(place)];
  }))];
  const series = tosses.map((one, i) => i === tosses.length - 1
    ? { stroke: colour("--big"), width: 2.5, points: { show: false } }
    : { stroke: colour("--soft"), width: 0.6, alpha: 0.5, points: { show: false } });
  new uPlot({
    width: place.clientWidth, height: 240, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false } }, axes: axes(place), series: [{}, ...series],
  }, data, place);
}

async function trends() {
  const told = await (await fetch("/technician/trends.json")).json();
  for (const place of document.querySelectorAll("[data-series]")) {
    let values = told[place.dataset.series];
    if (!values || !values.some((value) => value !== null)) { place.textContent = "–"; continue; }
    if (place.dataset.series === "disk_free_b") values = values.map((value) => value === null ? null : value / 1e9);
    new uPlot({
      width: place.clientWidth, height: 150, legend: { show: false }, cursor: { show: false },
      // uPlot gives a single sample a range of years.
      scales: { x: { range: (plot, from, to) => {
        const last = plot.data[0].length < 2 ? from : to;
        return last - from < 3600 ? [from - 1800, last + 1800] : [from, last];
      } } },
      axes: axes(place), series: [{}, { stroke: colour("--small"), width: 1.5, points: { show: values.length < 40 } }],
    }, [told.at_s, values], place);
  }
}

const button = document.getElementById("camera");
const figure = document.getElementById("now");
const refusal = document.getElementById("refusal");
let showing = false;

const picture = figure.querySelector("img");
let next = 0;
const again = () => { clearTimeout(next); next = setTimeout(show, 700); };
picture.addEventListener("load", () => { figure.hidden = !showing; refusal.textContent = ""; again(); });
picture.addEventListener("error", async () => {
  figure.hidden = true;
  const answer = await fetch("/technician/picture", { cache: "no-store" }).catch(() => null);
  refusal.textContent = answer && !answer.ok ? await answer.text() : "";
  again();
});

function show() {
  if (showing) picture.src = `/technician/picture?${performance.now().toFixed(0)}`;
}

button.addEventListener("click", () => {
  showing = !showing;
  button.setAttribute("aria-pressed", String(showing));
  if (!showing) figure.hidden = true;
  show();
});
curves();
trends();
