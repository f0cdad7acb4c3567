// A list of objects in a form: a fieldset for each that there can be. Those beyond the list are hidden and disabled.

function setShown(item, isShown) {
  item.hidden = !isShown
  item.disabled = !isShown
}

function copyFields(from, to) {
  for (const [place, field] of [...to.elements].entries()) {
    const { checked, value } = from.elements[place]
    if (field.type === 'checkbox') field.checked = checked
    else if (field.matches('input, select, textarea')) field.value = value
  }
}

function addItem(items, shown) {
  const item = items[shown.length]
  setShown(item, true)
  item.querySelector('input, select')?.focus()
}

/** Those after it take its place, so the list has no gap. */
function removeItem(item, shown) {
  for (const [place, one] of shown.entries())
    if (place > shown.indexOf(item)) copyFields(one, shown[place - 1])
  setShown(shown.at(-1), false)
}

export function changeItems(button) {
  const list = button.closest('[data-items]')
  const items = [...list.querySelectorAll(':scope > fieldset')]
  const shown = items.filter(({ hidden }) => !hidden)
  const adds = list.querySelector('[data-add-item]')
  if (button === adds) addItem(items, shown)
  else removeItem(button.closest('.item'), shown)
  adds.hidden = items.every(({ hidden }) => !hidden)
  if (button !== adds) adds.focus()
  list.dispatchEvent(new Event('input', { bubbles: true }))
}
