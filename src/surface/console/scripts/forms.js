// Forms that call an operation: the page names the operation, the fields make up its body, and its answer or
// refusal appears beside them.

import { confirm, showSecrets } from './dialogs.js'
import { asSent, contentOf, filled } from './form-body.js'
import { clearFormRefusal, showFormRefusal } from './form-refusal.js'
import { load, refresh, renew } from './live-part.js'
import { hasTypedInput } from './morph.js'
import { all, closestTo, complain, loadCeremonies, once, part, root, tell, words } from './page.js'
import { withPasskey } from './passkey.js'
import { callSignedIn } from './sign-in.js'

/** A second press within this time is a double click, and is ignored. */
const DOUBLE_MS = 700
const NEWS = 'news for the next page'

/** The unanswered request of each form. If it is sent again, it has the same key, and is done once. */
const unanswered = new WeakMap()

function keyOf(form, request) {
  const content = JSON.stringify(request)
  const known = unanswered.get(form)
  if (known?.content === content) return known.key
  const key = crypto.randomUUID()
  unanswered.set(form, { key, content })
  return key
}

const inAddress = (path, params) =>
  path.replace(/^\//, '').replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))

/** Whether the outcome is known. A broken connection, or a request in progress, leaves it open. */
const isAnswer = ({ status, code }) =>
  status >= 400 && status < 500 && status !== 401 && code !== 'in_progress'

/** Sends the form. Any answer ends the idempotency key; after a broken connection, the key is kept. */
async function send(form, { method, path, body }) {
  const key = keyOf(form, { method, path, body })
  try {
    const hasBody = method !== 'GET' && Object.keys(body).length > 0
    const answer = await callSignedIn(method, path, { key, ...(hasBody ? { body: asSent(body) } : {}) })
    unanswered.delete(form)
    return answer
  } catch (error) {
    if (isAnswer(error)) unanswered.delete(form)
    throw error
  }
}

function requestOf(form, submitter) {
  const { operation, params = '{}', given = '{}' } = form.dataset
  const [method, template] = operation.split(' ')
  const { body, query } = contentOf(form, submitter)
  const search = new URLSearchParams(query).toString()
  const path = inAddress(template, { ...JSON.parse(params), ...query })
  return { method, path: search ? `${path}?${search}` : path, body: { ...JSON.parse(given), ...body } }
}

function challengeOf({ dataset }, body) {
  const { challenge, challengeBody, challengeOf: given, params = '{}' } = dataset
  if (!challenge) return undefined
  const signed = given ? JSON.parse(given) : body
  const members = given ? signed : { ...JSON.parse(params), ...body }
  return {
    path: inAddress(challenge.split(' ')[1], members),
    body: challengeBody ? filled(JSON.parse(challengeBody), members) : signed,
    isAskedLate: dataset.passkey === 'when-asked',
  }
}

const said = (text, answer) => text.replace(/\{(\w+)\}/g, (_, name) => answer?.[name] ?? '')

/** Whether to renew the page in place. Loading it again would lose the input of another form. */
const isRenewed = form => all('form').some(other => other !== form && hasTypedInput(other)) && renew()

async function finish(form, answer, step) {
  const success = said(form.dataset.success ?? words.done, answer)
  const done = step ? `part:${form.closest('live-part')?.id}` : (form.dataset.done ?? 'reload')
  const secrets = Object.fromEntries(
    (form.dataset.secret ?? '').split(' ').flatMap(name => (answer[name] ? [[name, answer[name]]] : [])),
  )
  if (Object.keys(secrets).length > 0) await showSecrets(secrets)
  form.reset()
  if (form.dataset.more && answer.more) {
    form.dataset.given = JSON.stringify({ ...JSON.parse(form.dataset.given ?? '{}'), after: answer.last })
    return tell(said(form.dataset.more, answer))
  }
  const [wanted, rest = ''] = done.split(/:(.*)/)
  const isInPlace = wanted === 'reload' && (form.closest('.panel') || (await isRenewed(form)))
  const kind = isInPlace ? 'renewed' : wanted
  if (kind === 'reload' || kind === 'go') {
    sessionStorage.setItem(NEWS, success)
    if (kind === 'go') location.assign(root + inAddress(rest, answer))
    else location.reload()
    return new Promise(resolve => addEventListener('pageshow', resolve, { once: true }))
  }
  if (kind === 'close') form.closest('dialog')?.close()
  if (kind === 'part') refresh(rest.split(','))
  tell(success)
  form.dispatchEvent(new CustomEvent('form-done', { bubbles: true, detail: answer }))
  return step ? undefined : new Promise(resolve => setTimeout(resolve, DOUBLE_MS))
}

export async function submit(form, submitter, step) {
  clearFormRefusal(form)
  const button = submitter ?? form.querySelector('button')
  const question = button.dataset.confirm ?? form.dataset.confirm
  if (
    question &&
    (await confirm(question, button.textContent.trim(), button.matches('.against'))) !== 'yes'
  ) {
    tell('')
    return 'no'
  }
  try {
    const request = requestOf(form, submitter)
    const challenge = challengeOf(form, request.body)
    const sending = assertion => send(form, assertion ? withAssertion(request, assertion) : request)
    const answer = challenge ? await withPasskey(challenge, sending, step) : await sending()
    if (typeof answer === 'string') {
      tell('')
      return answer
    }
    await finish(form, answer, step)
    return 'done'
  } catch (error) {
    tell('')
    const said =
      error instanceof SyntaxError ? words.notJson : (error.said ?? `${words.other} ${error.message}`)
    // Another person's decision may have removed the form from the page.
    if (form.isConnected) showFormRefusal(form, button, said)
    else complain(said)
    return 'refused'
  }
}

/** @type {(request: any, webauthnAssertion: object) => any} */
const withAssertion = ({ body, ...request }, webauthnAssertion) => ({
  ...request,
  body: { ...body, webauthnAssertion },
})

/** Submits one form after the other. Each waits for its passkey, and a refusal does not stop the next one. */
async function submitAll(selector) {
  const forms = all(selector)
  for (const [index, form] of forms.entries()) {
    if (!form.isConnected) continue
    const end = await submit(form, undefined, { number: index + 1, of: forms.length })
    if (end === 'stop') return
  }
}

async function fillPart(form) {
  await load(form.dataset.part, new URLSearchParams(/** @type {any} */ (new FormData(form))))
  tell('')
}

const underWay = new WeakSet()

document.addEventListener('submit', event => {
  const { submitter } = event
  const form = closestTo(event, 'form[data-operation], form[data-part]')
  if (!form) return
  event.preventDefault()
  if (underWay.has(form)) return
  underWay.add(form)
  const work = form.dataset.part ? () => fillPart(form) : () => submit(form, submitter)
  void once(submitter ?? form, work).finally(() => underWay.delete(form))
})

document.addEventListener('click', event => {
  const button = closestTo(event, 'button[data-each]')
  if (button) void once(button, () => submitAll(button.dataset.each))
})

for (const kind of ['input', 'reset'])
  document.addEventListener(kind, async event => {
    const form = closestTo(event, 'form:has([data-sentence])')
    // It also waits until a reset form has its values.
    if (form) (await import('./read-back.js')).readBack(form)
  })

/** A field for an instant shows it in the reader's zone. */
function fillInstants() {
  for (const field of all('input[data-instant]')) {
    const at = new Date(field.dataset.instant)
    delete field.dataset.instant
    if (Number.isNaN(at.getTime())) continue
    const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    field.defaultValue = local.toISOString().slice(0, 16)
  }
}

fillInstants()
document.addEventListener('part-replaced', fillInstants)

if (part('form[data-challenge]')) void loadCeremonies().catch(() => undefined)

const news = sessionStorage.getItem(NEWS)
sessionStorage.removeItem(NEWS)
if (news) tell(news)
