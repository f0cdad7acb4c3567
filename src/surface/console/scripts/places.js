// Folds the bar of places to its icons. The first script of a page restores the choice before the page is shown. On a
// phone, scrolls a row of tabs to the current one.

import { all, closestTo, dataset, part } from './page.js'

const FOLD = 'button[data-action="fold-places"]'
const FOLDED = 'folded'

function show(isFolded) {
  if (isFolded) dataset.places = FOLDED
  else delete dataset.places
  part(FOLD)?.setAttribute('aria-expanded', String(!isFolded))
}

document.addEventListener('click', event => {
  if (!closestTo(event, FOLD)) return
  const isFolded = dataset.places !== FOLDED
  show(isFolded)
  localStorage.setItem('places', isFolded ? FOLDED : '')
})
show(dataset.places === FOLDED)

/** In pixels. The next tab looks out behind the current one. */
const AHEAD = 24

for (const tabs of all('.tabs')) {
  const current = tabs.querySelector('[aria-current]')
  const beyond = current
    ? current.getBoundingClientRect().right + AHEAD - tabs.getBoundingClientRect().right
    : 0
  if (beyond > AHEAD) tabs.scrollLeft += beyond
}
