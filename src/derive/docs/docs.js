// Makes the page quicker to use; without it, the page still reads well, and the search has a page of its own.
// Loads before the body, so that the first paint has the chosen colours.

const root = document.documentElement

/** A browser may store nothing. Then a choice lasts as long as the page. */
function storage() {
  try {
    return localStorage
  } catch {
    return {}
  }
}

const kept = storage()
root.classList.add('script')
root.dataset.language = kept.language ?? 'curl'
if (kept.theme) root.dataset.theme = kept.theme

const isDark = () =>
  (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'

function switchTheme() {
  root.dataset.theme = isDark() ? 'light' : 'dark'
  kept.theme = root.dataset.theme
}

function chooseLanguage(language) {
  root.dataset.language = language
  showLanguage()
  kept.language = language
}

/** Samples without the chosen language show their first one. */
function showLanguage() {
  for (const samples of document.querySelectorAll('.samples')) {
    const parts = [...samples.children]
    const chosen = parts.find(part => part.dataset.language === root.dataset.language) ?? parts[0]
    for (const part of parts) part.hidden = part !== chosen
    for (const button of chosen.querySelectorAll('[data-choose]'))
      button.setAttribute('aria-pressed', String(button.dataset.choose === chosen.dataset.language))
  }
}

function addCopyButtons() {
  for (const caption of document.querySelectorAll('.panel figcaption')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    caption.append(button)
  }
}

async function copy(button) {
  const done = await writeClipboard(button.closest('.panel').querySelector('pre')).catch(() => false)
  button.textContent = done ? 'Copied' : 'Not copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1500)
}

/** Over plain HTTP, browsers offer only the old API, except on localhost. */
async function writeClipboard(element) {
  if (!navigator.clipboard) {
    getSelection().selectAllChildren(element)
    return document.execCommand('copy')
  }
  await navigator.clipboard.writeText(element.textContent)
  return true
}

/** Searches count against the rate limit, so a reader who types fast makes one. */
const PAUSE_MS = 150

function startSearch() {
  const field = document.getElementById('search')
  const results = document.getElementById('results')
  let asked = new AbortController()
  let waiting

  const show = (...content) => {
    results.hidden = content.length === 0
    results.replaceChildren(...content)
    results.scrollTop = 0
  }

  const look = async () => {
    asked.abort()
    asked = new AbortController()
    if (field.value.trim() === '') return show()
    const { signal } = asked
    const query = new URLSearchParams({ q: field.value })
    try {
      const answer = await fetch(`${field.form.action}?${query}`, { signal })
      if (!answer.ok) throw new Error(`${answer.status}`)
      // biome-ignore lint/style/noRestrictedGlobals: an answer of success is HTML of the service
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      if (!signal.aborted) show(...page.querySelectorAll('.found > *'))
    } catch {
      if (!signal.aborted) show('The search does not answer. Press Enter to try again.')
    }
  }

  field.addEventListener('input', () => {
    clearTimeout(waiting)
    waiting = setTimeout(look, PAUSE_MS)
  })
  document.addEventListener('keydown', event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const stops = [field, ...results.querySelectorAll('a')]
    if (step && !results.hidden && stops.includes(event.target)) {
      event.preventDefault()
      stops[stops.indexOf(event.target) + step]?.focus()
    }
    if (event.key === 'Escape') {
      field.value = ''
      field.blur()
      void look()
    }
    if (event.key !== '/' || event.target.matches('input') || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    field.focus()
  })
  document.addEventListener('click', event => {
    if (!event.target.closest('#results, .search') || event.target.closest('#results a')) show()
  })
}

/** The link of the page itself may be far down in the contents. */
const showCurrentPage = () =>
  document.querySelector('#contents [aria-current=page]')?.scrollIntoView({ block: 'center' })

function nameService() {
  const { placeholder } = root.dataset
  if (!placeholder) return
  const walker = document.createTreeWalker(document.getElementById('content'), NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode
    if (text.data.includes(placeholder)) text.data = text.data.replaceAll(placeholder, location.origin)
  }
}

document.addEventListener('DOMContentLoaded', () => {
  nameService()
  addCopyButtons()
  showLanguage()
  startSearch()
  showCurrentPage()

  document.addEventListener('click', event => {
    const button = event.target.closest('button')
    if (button?.matches('.theme')) switchTheme()
    if (button?.matches('.copy')) void copy(button)
    if (button?.dataset.choose) chooseLanguage(button.dataset.choose)
  })
})
