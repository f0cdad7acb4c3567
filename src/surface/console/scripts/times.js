// Instants in the reader's zone. The service writes them in another one; UTC shows when the pointer or the focus is on it.

const { lang } = document.documentElement
const forms = {
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
  day: { dateStyle: 'medium' },
  time: { timeStyle: 'medium' },
}
const formats = new Map()

function formatOf(name) {
  const known = formats.get(name)
  if (known) return known
  const format = new Intl.DateTimeFormat(lang === 'de' ? 'de-DE' : 'en-GB', forms[name] ?? forms.minute)
  formats.set(name, format)
  return format
}

/** Days without a time stay as they are: they have no zone. */
export function showTimes(root) {
  for (const time of root.querySelectorAll('time[datetime*="T"]')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.textContent = formatOf(time.dataset.format ?? 'minute').format(at)
    time.dataset.utc = `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
    if (!time.closest('a, button, summary')) time.tabIndex = 0
  }
}

showTimes(document)
