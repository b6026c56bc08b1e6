// One stream for the page: puts each part in its place, and says how old the figures are.
const OLD_S = 2;
const live = document.getElementById("live");
const stale = document.getElementById("stale");
let age = live.dataset.age === undefined ? null : Number(live.dataset.age);
let heardAt = performance.now();
let source = null;

function take(event) {
  const said = JSON.parse(event.data);
  if (said.version !== live.dataset.version) {
    location.reload();
    return;
  }
  for (const [name, html] of Object.entries(said.parts)) {
    const place = live.querySelector(`[data-part="${name}"]`);
    if (place) place.innerHTML = html;
  }
  age = said.age_s;
  heardAt = performance.now();
  tick();
}

async function comeAgain() {
  // A stream that is refused is closed for good: either one must log in, or the server is away.
  try {
    const answer = await fetch("/alive", { cache: "no-store" });
    if (answer.status === 401) location.reload();
    else open();
  } catch {
    setTimeout(comeAgain, 2000);
  }
}

function open() {
  if (source) source.close();
  source = new EventSource(live.dataset.stream);
  source.onmessage = take;
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) setTimeout(comeAgain, 2000); };
}

function words(seconds) {
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}

function tick() {
  const silence = (performance.now() - heardAt) / 1000;
  const old = age === null ? null : age + silence;
  const isOld = old === null || old > OLD_S;
  document.body.classList.toggle("stale", isOld);
  stale.hidden = !isOld;
  if (!isOld) return;
  const kind = silence > OLD_S ? "lost" : age === null ? "never" : age > OLD_S ? "gone" : "old";
  const text = stale.dataset[kind].replace("{}", words(old ?? silence));
  if (stale.textContent !== text) stale.textContent = text;
}

document.addEventListener("visibilitychange", () => {
  // A browser gives a site six streams: a page that nobody sees leaves its place to others.
  if (document.hidden) { source.close(); source = null; } else open();
});
open();
setInterval(tick, 250);
tick();
