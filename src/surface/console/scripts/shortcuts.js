// Opens the palette by Ctrl-K, Command-K, `/` or its link, and the form that an address names. Without this script the
// link leads to the search page.

import { closestTo, part } from './page.js'

const FIELD = 'input, textarea, select, [contenteditable]'

const open = () => void import('./palette.js').then(palette => palette.open())

document.addEventListener('keydown', event => {
  const isTyping = event.target instanceof Element && event.target.matches(FIELD)
  const isSlash = event.key === '/' && !isTyping
  const isK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
  if (!isSlash && !isK) return
  event.preventDefault()
  open()
})

document.addEventListener('click', event => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey
  if (!isPlain || !closestTo(event, 'a[data-palette]')) return
  event.preventDefault()
  open()
})

/** `#do:POST /agents` opens the form of the operation, and puts the focus into it. */
function openForm() {
  if (!location.hash.startsWith('#do:')) return
  const operation = decodeURIComponent(location.hash.slice(4))
  const form = part(`form[data-operation="${CSS.escape(operation)}"]`)
  form?.closest('dialog')?.showModal()
  form?.scrollIntoView({ block: 'center' })
  form?.querySelector('input, select, textarea, button')?.focus()
}

addEventListener('hashchange', openForm)
openForm()
