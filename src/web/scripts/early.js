// Keeps clicks until the modules of the page listen, and repeats them at `DOMContentLoaded`, when all modules
// have run. Loads before the page itself.
{
  const FORM = 'form:is([method="dialog"], [data-part])'
  const BUTTON = 'button[type="button"]:not([popovertarget], [commandfor])'

  /** @type {Map<any, any>} What was pressed, each once, and the button by which a form was sent. */
  const pressed = new Map()
  let isWhole = true

  const keep = event => {
    const { type, target, submitter } = event
    const found = target.closest(type === 'submit' ? FORM : BUTTON)
    if (!found) return
    event.preventDefault()
    event.stopImmediatePropagation()
    pressed.set(found, submitter)
    ;(submitter ?? found).setAttribute('aria-disabled', 'true')
  }

  const miss = ({ target }) => {
    if (target instanceof HTMLScriptElement) isWhole = false
  }

  const giveBack = () => {
    for (const type of ['submit', 'click']) removeEventListener(type, keep, true)
    removeEventListener('error', miss, true)
    for (const [element, submitter] of pressed) {
      ;(submitter ?? element).removeAttribute('aria-disabled')
      if (!isWhole) continue
      if (element instanceof HTMLFormElement) element.requestSubmit(submitter)
      else element.click()
    }
    const trouble = document.getElementById('trouble')
    if (!isWhole && trouble) trouble.textContent = trouble.dataset.incomplete
  }

  for (const type of ['submit', 'click']) addEventListener(type, keep, true)
  addEventListener('error', miss, true)
  addEventListener('DOMContentLoaded', giveBack, { once: true })

  // The page is painted with the bar of places as the person left it.
  try {
    const places = localStorage.getItem('places')
    if (places) document.documentElement.dataset.places = places
  } catch {
    // The browser keeps nothing for this site.
  }
}
