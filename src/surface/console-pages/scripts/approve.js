import {
  askDevice,
  call,
  complain,
  goBy,
  here,
  onPress,
  onSubmit,
  pageIn,
  part,
  Refused,
  showTimes,
  tell,
  words,
  writeSentence,
} from './page.js'

const POLL_MS = 4_000
/** A challenge is valid for five minutes. One that is about to expire is not used. */
const FRESH_MS = 4 * 60_000

const intent = () => part('#intent')
const path = () => `intents/${intent().dataset.intent}`
const waits = () => part('.mark').classList.contains('created')

let challenge

async function openChallenge() {
  challenge = undefined
  const button = part('[data-action="approve"]')
  // In its place the page may say why the intent cannot be approved now: then there is nothing to sign.
  if (!button) return false
  const opened = await call('POST', `passkeys/${path()}/challenge`, { body: {}, background: true })
  challenge = { ...opened, openedAt: performance.now() }
  const sentence = part('[data-sentence]')
  const hasPasskey = opened.options.allowCredentials.length > 0
  part('[data-no-passkey]').hidden = hasPasskey
  button.hidden = !hasPasskey
  const isOther = sentence.textContent !== '' && sentence.textContent !== opened.sentence
  writeSentence(sentence, opened.sentence)
  return isOther
}

async function refresh() {
  const response = await fetch(location.href, { headers: { 'X-Background': 'true' } })
  const page = await pageIn(response)
  const now = page?.querySelector('#intent')
  if (!response.ok || !now) return
  const focused = document.activeElement
  const hadFocus = intent().contains(focused)
  // The field itself moves over, with what the person has typed.
  const reason = part('#reason')
  if (reason) now.querySelector('#reason')?.replaceWith(reason)
  intent().replaceWith(now)
  document.title = page.title
  prepare()
  if (hadFocus) (focused.isConnected ? focused : part('#heading')).focus()
  // The new page has no sentence yet. Without one, a press would sign what the person has not read.
  if (waits()) await openChallenge()
}

function prepare() {
  showTimes(document)
  const decision = part('[data-decision]')
  if (decision) decision.hidden = false
}

const HERE = new Set(['not_allowed', 'no_passkey', 'unsupported', 'offline'])

/** A refusal either changes the sentence to sign, ends the decision, or requires a sign-in. */
async function afterRefusal(error) {
  if (!(error instanceof Refused) || HERE.has(error.code)) throw error
  challenge = undefined
  if (error.code === 'unauthenticated') return goBy('login', here())
  if (error.code === 'statement_outdated') {
    await refresh()
    return complain(words.readAgain)
  }
  await refresh()
  complain(error.message)
}

async function approve() {
  if (!challenge || performance.now() - challenge.openedAt > FRESH_MS)
    if (await openChallenge()) return complain(words.readAgain)
  const { challengeId, options } = challenge
  if (options.allowCredentials.length === 0) throw new Refused('no_passkey', words.noPasskey)
  const assertion = await askDevice('startAuthentication', options)
  const body = { webauthnAssertion: { challengeId, assertion } }
  const decided = await call('POST', `${path()}/approve`, { body })
  await refresh()
  tell(approvedText(decided))
}

/** Where the policy asks several people, others may have to approve as well. */
function approvedText({ status, approval }) {
  if (status !== 'created' || !approval) return words.approved
  const missing = approval.needed - approval.given
  return missing === 1 ? words.recordedOne : words.recorded.replace('{count}', missing)
}

let presses = 0
let isDeciding = false

async function decide(work) {
  presses++
  isDeciding = true
  await work()
    .catch(afterRefusal)
    .finally(() => {
      isDeciding = false
    })
}

onPress('approve', () => decide(approve))

onSubmit('deny', form =>
  decide(async () => {
    await call('POST', `${path()}/deny`, { body: { reason: form.get('reason') } })
    await refresh()
    tell(words.denied)
  }),
)

async function poll() {
  const before = presses
  const isOvertaken = () => isDeciding || presses !== before || !waits()
  if (document.visibilityState === 'hidden' || isOvertaken()) return
  const { status, updatedAt } = await call('GET', path(), { background: true })
  if (isOvertaken() || `${status} ${updatedAt}` === intent().dataset.version) return
  await refresh()
  if (!waits() && presses === before) tell(words.changed)
}

async function watch() {
  while (waits()) {
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
    const error = await poll().catch(error => error)
    if (error?.code === 'unauthenticated') return complain(error.message)
  }
}

prepare()
if (part('[data-decision]')) await openChallenge().catch(error => complain(error.message))
void watch()
