// Forms that call an operation: the page names the operation, the fields make up its body, and its answer or
// refusal appears beside them.

import { confirm, element, show, showSecrets } from './dialogs.js'
import { asSent, contentOf, filled, memberOf } from './form-body.js'
import { clearFormRefusal, showFormRefusal } from './form-refusal.js'
import { load, refresh, reloadMainContent } from './live-part.js'
import { hasTypedInput } from './morph.js'
import {
  all,
  closestTo,
  complain,
  goBy,
  here,
  loadCeremonies,
  once,
  part,
  root,
  tell,
  words,
} from './page.js'
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
    if (!form.dataset.next) unanswered.delete(form)
    return answer
  } catch (error) {
    if (isAnswer(error)) unanswered.delete(form)
    throw error
  }
}

/** The second call of a form. If it fails, sending the form again repeats the first call with its key: done once. */
async function sendNext(form, answer) {
  const [operation, params, body] = JSON.parse(form.dataset.next)
  const [method, template] = operation.split(' ')
  const path = inAddress(template, params)
  await callSignedIn(method, path, { key: crypto.randomUUID(), body: filled(body, answer) })
  unanswered.delete(form)
}

export function requestOf(form, submitter) {
  const { operation, params = '{}', given = '{}' } = form.dataset
  const [method, template] = operation.split(' ')
  const { body, query } = contentOf(form, submitter)
  const search = new URLSearchParams(query).toString()
  const path = inAddress(template, { ...JSON.parse(params), ...query })
  return { method, path: search ? `${path}?${search}` : path, body: { ...JSON.parse(given), ...body } }
}

export function challengeOf({ dataset }, body) {
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

const said = (text, answer) => text.replace(/\{([\w.]+)\}/g, (_, name) => memberOf(answer, name) ?? '')

/** Whether to reload the content in place. Loading it again would lose the input of another form. */
const isRenewed = form =>
  all('form').some(other => other !== form && hasTypedInput(other)) && reloadMainContent()

async function finish(form, answer, isOneOfMany) {
  const byStatus = form.getAttribute(`data-success-${answer?.status}`)
  const success = said(byStatus ?? form.dataset.success ?? words.done, answer)
  const done = isOneOfMany ? `part:${form.closest('live-part')?.id}` : (form.dataset.done ?? 'reload')
  const secrets = Object.fromEntries(
    (form.dataset.secret ?? '').split(' ').flatMap(name => (answer[name] ? [[name, answer[name]]] : [])),
  )
  if (Object.keys(secrets).length > 0) await showSecrets(secrets)
  form.reset()
  form.closest('dialog.form')?.close()
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
  return isOneOfMany ? undefined : new Promise(resolve => setTimeout(resolve, DOUBLE_MS))
}

const refusalText = error =>
  error instanceof SyntaxError ? words.notJson : (error.said ?? `${words.other} ${error.message}`)

/** Leads to the page where the person creates a passkey, and back here. */
async function offerPasskey(error) {
  const chosen = await show(
    words.passkeyFirst,
    [element('p', {}, error.said)],
    [
      ['yes', words.createPasskey, 'main'],
      ['no', words.cancel],
    ],
  )
  if (chosen === 'yes') goBy('join', here())
}

export function showRefusal(form, button, error) {
  // Another person's decision may have removed the form from the page.
  if (form.isConnected) showFormRefusal(form, button, refusalText(error))
  else complain(refusalText(error))
}

/** `read` is an open statement that the person has read, if this form is sent as one of many. */
export async function submit(form, submitter, read) {
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
    const answer = await withPasskey(challenge, sending, read)
    if (typeof answer === 'string') {
      tell('')
      return answer
    }
    if (form.dataset.next) await sendNext(form, answer)
    await finish(form, answer, read !== undefined)
    return 'done'
  } catch (error) {
    tell('')
    if (error.code === 'passkey_required') await offerPasskey(error)
    else showRefusal(form, button, error)
    return error.code === 'not_allowed' ? 'stop' : 'refused'
  }
}

/** @type {(request: any, webauthnAssertion: object) => any} */
const withAssertion = ({ body, ...request }, webauthnAssertion) => ({
  ...request,
  body: { ...body, webauthnAssertion },
})

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

const WITH_SENTENCE = 'form:has([data-sentence])'

const readBack = async form => (await import('./read-back.js')).readBack(form)

// After an event of a reset it also waits until the form has its values.
for (const kind of ['input', 'reset'])
  document.addEventListener(kind, event => {
    const form = closestTo(event, WITH_SENTENCE)
    if (form) void readBack(form)
  })

/** What a person typed stays in a form that is renewed with its part, whose sentence is then that of the record. */
const readBackTyped = () => all(WITH_SENTENCE).filter(hasTypedInput).forEach(readBack)

// A person may have typed before this script came.
readBackTyped()
document.addEventListener('part-replaced', readBackTyped)

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

document.addEventListener('click', async event => {
  const button = closestTo(event, 'button:is([data-add-item], [data-remove-item])')
  if (button) (await import('./form-items.js')).changeItems(button)
})
