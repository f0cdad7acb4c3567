import { closestTo, tell, words } from './page.js'

const SHOWN_MS = 1_500

/** Over plain HTTP from another machine, browsers offer only the old API. */
async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = Object.assign(document.createElement('textarea'), { value: text })
  document.body.append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (!isDone) throw new Error('the browser did not copy')
}

const textOf = ({ dataset: { copy, copyOf } }) =>
  copy ?? document.getElementById(copyOf)?.textContent.trim() ?? ''

async function copyBy(button) {
  const isDone = await write(textOf(button)).then(
    () => true,
    () => false,
  )
  tell(isDone ? words.copied : words.notCopied)
  button.dataset.copied = isDone ? words.copied : words.notCopied
  setTimeout(() => delete button.dataset.copied, SHOWN_MS)
}

document.addEventListener('click', event => {
  const button = closestTo(event, 'button[data-copy], button[data-copy-of]')
  if (button) void copyBy(button)
})
