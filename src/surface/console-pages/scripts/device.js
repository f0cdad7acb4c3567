import {
  all,
  askDevice,
  call,
  complain,
  goBy,
  onPress,
  onSubmit,
  part,
  Refused,
  showStep,
  tell,
  words,
  writeSentence,
} from './page.js'

/** A challenge is valid for five minutes. One that is about to expire is not used. */
const FRESH_MS = 4 * 60_000

const types = JSON.parse(part('[data-step="device"]').dataset.types)

let userCode
let challenge

const chosen = () => all('[data-scopes] input:checked').map(({ value }) => value)

async function openChallenge() {
  challenge = undefined
  const body = { userCode, scopes: chosen() }
  const opened = await call('POST', 'sessions/device/challenge', { body, background: true })
  challenge = { ...opened, openedAt: performance.now() }
  const sentence = part('[data-sentence]')
  part('[data-no-passkey]').hidden = opened.options.allowCredentials.length > 0
  const isOther = sentence.textContent !== '' && sentence.textContent !== opened.sentence
  writeSentence(sentence, opened.sentence)
  return isOther
}

function rightOf(scope) {
  const label = document.createElement('label')
  const box = Object.assign(document.createElement('input'), {
    type: 'checkbox',
    value: scope,
    checked: true,
  })
  label.append(box, ` ${scope}`)
  return label
}

const minute = new Intl.DateTimeFormat(document.documentElement.lang === 'de' ? 'de-DE' : 'en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'Europe/Berlin',
  timeZoneName: 'short',
})

/** Inserts all values as text, since a device chooses its own name. */
function show(device) {
  const shown = {
    ...device,
    clientType: types[device.clientType] ?? device.clientType,
    address: device.address ?? '–',
    createdAt: minute.format(new Date(device.createdAt)),
  }
  for (const place of all('[data-device]')) place.textContent = shown[place.dataset.device]
  part('[data-bound]').hidden = !device.isBound
  part('[data-tool-writes]').hidden = !device.toolWrites
  part('[data-count]').textContent = device.scopes.length
  part('[data-scopes]').replaceChildren(...device.scopes.map(rightOf))
  part('[data-withheld]').hidden = device.withheld.length === 0
  part('[data-withheld] span').textContent = device.withheld.join(', ')
  part('[data-sentence]').textContent = ''
}

async function look(typed) {
  const device = await call('POST', 'sessions/device/lookup', { body: { userCode: typed } })
  userCode = device.userCode
  show(device)
  showStep('device')
  await openChallenge()
  tell('')
}

const OVER = new Set(['user_code_unknown', 'user_code_expired'])

/** A refusal either changes the sentence to sign, ends the decision, or requires a sign-in. */
async function afterRefusal(error) {
  if (!(error instanceof Refused)) throw error
  const way = userCode ? `device?${new URLSearchParams({ code: userCode })}` : 'device'
  if (error.code === 'unauthenticated') return goBy('login', way)
  if (error.code === 'statement_outdated' && (await openChallenge())) return complain(words.readAgain)
  if (['challenge_used', 'challenge_expired', 'assertion_invalid'].includes(error.code)) challenge = undefined
  if (OVER.has(error.code)) showStep('code')
  throw error
}

async function approve() {
  if (!challenge || performance.now() - challenge.openedAt > FRESH_MS)
    if (await openChallenge()) return complain(words.readAgain)
  const { challengeId, options } = challenge
  if (options.allowCredentials.length === 0) throw new Refused('no_passkey', words.noPasskeyHere)
  const scopes = chosen()
  const assertion = await askDevice('startAuthentication', options)
  const body = { userCode, scopes, webauthnAssertion: { challengeId, assertion } }
  await call('POST', 'sessions/device/verify', { body })
  showStep('approved')
  tell(words.letIn)
}

async function deny() {
  await call('POST', 'sessions/device/deny', { body: { userCode } })
  showStep('denied')
  tell(words.turnedAway)
}

onSubmit('look', form => look(form.get('code')).catch(afterRefusal))
onPress('approve', () => approve().catch(afterRefusal))
onPress('deny', () => deny().catch(afterRefusal))
part('[data-scopes]').addEventListener('change', () => {
  const isNone = chosen().length === 0
  part('[data-action="approve"]').disabled = isNone
  part('[data-count]').textContent = chosen().length
  if (!isNone) openChallenge().catch(error => complain(error.message))
})

showStep('code', { first: true })
const given = new URLSearchParams(location.search).get('code')
if (given) {
  part('#user-code').value = given
  await look(given)
    .catch(afterRefusal)
    .catch(error => complain(error.message))
}
