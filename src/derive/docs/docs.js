// What makes the page quicker to use; it reads well without. Loaded before the body, so that the
// chosen colours are there with the first paint.

const root = document.documentElement

const kept = {
  read(name) {
    try {
      return localStorage.getItem(name)
    } catch {
      return null
    }
  },
  write(name, value) {
    try {
      localStorage.setItem(name, value)
    } catch {
      // A browser that keeps nothing: the choice lasts as long as the page.
    }
  },
}

root.classList.add('script')
root.dataset.language = kept.read('language') ?? 'curl'
const theme = kept.read('theme')
if (theme) root.dataset.theme = theme

const isDark = () =>
  (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'

function switchTheme() {
  root.dataset.theme = isDark() ? 'light' : 'dark'
  kept.write('theme', root.dataset.theme)
}

function chooseLanguage(language) {
  root.dataset.language = language
  kept.write('language', language)
  showLanguage()
}

function showLanguage() {
  for (const button of document.querySelectorAll('[data-choose]'))
    button.setAttribute('aria-pressed', String(button.dataset.choose === root.dataset.language))
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

/** On a plain HTTP address other than this machine's, browsers offer only the old way. */
async function writeClipboard(element) {
  if (!navigator.clipboard) {
    getSelection().selectAllChildren(element)
    return document.execCommand('copy')
  }
  await navigator.clipboard.writeText(element.textContent)
  return true
}

function startSearch() {
  const field = document.getElementById('search')
  const found = document.getElementById('found')
  const links = [...document.querySelectorAll('nav [data-find]')]
  const groups = [...document.querySelectorAll('nav .guides, nav details')]

  const counted = kind => {
    const hits = links.filter(link => link.matches(`.${kind}`) && !link.parentElement.hidden).length
    return `${hits === 0 ? 'no' : hits} ${kind}${hits === 1 ? '' : 's'}`
  }

  const narrow = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const link of links)
      link.parentElement.hidden = !words.every(word => link.dataset.find.includes(word))
    for (const group of groups) {
      group.hidden = !group.querySelector('li:not([hidden])')
      group.toggleAttribute('open', words.length > 0 || group.contains(current()))
    }
    found.textContent = words.length > 0 ? `${counted('operation')}, ${counted('event')}` : ''
  }

  field.addEventListener('input', narrow)
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') links.find(link => !link.parentElement.hidden)?.click()
    if (event.key === 'ArrowDown') links.find(link => !link.parentElement.hidden)?.focus()
    if (event.key === 'Escape') {
      field.value = ''
      narrow()
      field.blur()
    }
  })
  return field
}

const current = () => document.querySelector('nav [aria-current]')

/** Marks the section that is being read, and opens its chapter in the contents. */
function followReading() {
  const links = new Map([...document.querySelectorAll('nav li a')].map(link => [link.hash.slice(1), link]))
  const mark = id => {
    const link = links.get(id)
    if (!link || link === current()) return
    current()?.closest('details')?.removeAttribute('open')
    current()?.removeAttribute('aria-current')
    link.setAttribute('aria-current', 'location')
    link.closest('details')?.setAttribute('open', '')
    link.scrollIntoView({ block: 'nearest' })
  }
  const inSight = new Set()
  const observer = new IntersectionObserver(
    entries => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) inSight.add(target.id)
        else inSight.delete(target.id)
      mark([...links.keys()].find(id => inSight.has(id)))
    },
    { rootMargin: '-80px 0px -75% 0px' },
  )
  for (const id of links.keys()) observer.observe(document.getElementById(id))
}

/** Where nobody said what the service is called, it is called what this page was asked under. */
function nameService() {
  const { placeholder } = root.dataset
  if (!placeholder) return
  const walker = document.createTreeWalker(document.getElementById('content'), NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode
    if (text.data.includes(placeholder)) text.data = text.data.replace(placeholder, location.origin)
  }
}

document.addEventListener('DOMContentLoaded', () => {
  nameService()
  addCopyButtons()
  showLanguage()
  const search = startSearch()
  followReading()

  document.addEventListener('click', event => {
    const button = event.target.closest('button')
    if (button?.matches('.theme')) switchTheme()
    if (button?.matches('.copy')) void copy(button)
    if (button?.dataset.choose) chooseLanguage(button.dataset.choose)
  })
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.target.matches('input') || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (getComputedStyle(search).visibility === 'hidden') location.hash = 'menu'
    search.focus()
  })
})
