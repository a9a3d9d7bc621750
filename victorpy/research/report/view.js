const blocks = [...document.querySelectorAll('.block')];
const panel = document.querySelector('aside dl');
const table = document.querySelector('aside tbody');
const firstKept = Math.max(blocks.findIndex(block => !block.matches('.other')), 0);
let fixed = false;
function entry(name, value) {
  const dt = document.createElement('dt'), dd = document.createElement('dd');
  dt.textContent = name; dd.textContent = value; panel.append(dt, dd);
}
function show(block) {
  panel.replaceChildren(); table.replaceChildren();
  for (const name of ['number', 'label', 'probability', 'gold', 'path']) {
    if (block.dataset[name]) entry(name, block.dataset[name]);
  }
  for (const [name, value] of Object.entries(JSON.parse(block.dataset.features || '{}'))) {
    const row = table.insertRow();
    row.className = value === '0' ? 'soft' : '';
    row.insertCell().textContent = name; row.insertCell().textContent = value;
  }
}
function step(from, by, wanted) {
  for (let at = from + by; at >= 0 && at < blocks.length; at += by) {
    if (!wanted || blocks[at].matches(wanted)) { blocks[at].focus(); blocks[at].scrollIntoView({block: 'nearest'}); return; }
  }
}
for (const block of blocks) {
  block.addEventListener('focus', () => { fixed = true; show(block); });
  block.addEventListener('blur', () => { fixed = false; });
  block.addEventListener('mouseenter', () => { if (!fixed) show(block); });
}
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {j: [1], ArrowDown: [1], k: [-1], ArrowUp: [-1], n: [1, '.missed, .extra, .differs'], p: [-1, '.missed, .extra, .differs']};
  if (!(event.key in keys)) return;
  event.preventDefault();
  const [by, wanted] = keys[event.key], focused = blocks.indexOf(document.activeElement);
  const start = by < 0 ? firstKept : wanted ? -1 : firstKept - 1;
  step(focused >= 0 ? focused : start, by, wanted);
});
// A page starts with its menu: open on the first block that is kept, which j steps to first.
if (firstKept) blocks[firstKept].scrollIntoView({block: 'center'});
