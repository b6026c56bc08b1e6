// One stream for the page: puts each part in its place, and says how old the figures are.
const OLD_S = 2;
const live = document.getElementById("live");
const stale = document.getElementById("stale");
let age = live.dataset.age === undefined ? null : Number(live.dataset.age);
let heardAt = performance.now();
let source = null;
let left = null;

function cue() {
  const sign = live.querySelector("[data-scene]");
  if (live.querySelector(".state .sum")) return "result";
  return sign && sign.dataset.scene === "call" ? "no-more-bets" : "";
}

function sound(name) {
  if (live.dataset.sound === "house") {
    new Audio(`/sign/${name}.mp3`).play().catch(() => {});
    return;
  }
  const context = new AudioContext();
  const notes = name === "result" ? [523, 659, 784] : [440, 330];
  notes.forEach((hertz, index) => {
    const tone = context.createOscillator();
    const loud = context.createGain();
    const at = context.currentTime + index * 0.22;
    tone.frequency.value = hertz;
    loud.gain.setValueAtTime(0.3, at);
    loud.gain.exponentialRampToValueAtTime(0.001, at + 0.6);
    tone.connect(loud).connect(context.destination);
    tone.start(at);
    tone.stop(at + 0.6);
  });
  setTimeout(() => context.close(), 2000);
}

function take(event) {
  const said = JSON.parse(event.data);
  if (said.version !== live.dataset.version) {
    location.reload();
    return;
  }
  const before = cue();
  for (const [name, html] of Object.entries(said.parts)) {
    const place = live.querySelector(`[data-part="${name}"]`);
    if (place) place.innerHTML = html;
  }
  if (live.dataset.sound && cue() !== before && cue()) sound(cue());
  age = said.age_s;
  left = said.left_s ?? null;
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
  const count = live.querySelector(".left");
  if (count) count.textContent = left === null ? "" : Math.max(0, Math.ceil(left - silence));
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
