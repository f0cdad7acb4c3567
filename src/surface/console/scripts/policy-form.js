// Evaluates a test payment by the rules of a form, while the person edits both.

import { element } from './dialogs.js'
import { contentOf } from './form-body.js'
import { clearFormRefusal, showFormRefusal } from './form-refusal.js'
import { all, call, Refused, words } from './page.js'

const TYPED_MS = 300

const outcomeOf = ({ allowed, requiresApproval }) =>
  allowed ? words.wouldAllow : requiresApproval ? words.wouldAsk : words.wouldDeny

function show(result, decision) {
  const telling = decision.checks.filter(({ outcome }) => outcome !== 'pass')
  result.replaceChildren(
    element(
      'p',
      {},
      element('strong', {}, outcomeOf(decision)),
      ' ',
      element('span', { lang: 'en' }, decision.reason),
    ),
    element(
      'ul',
      { lang: 'en' },
      ...telling.map(({ rule, message }) => element('li', {}, element('code', {}, rule), ' ', message)),
    ),
  )
}

function questionOf(attempt, rules) {
  const { body } = contentOf(attempt)
  const { agent, policy } = attempt.dataset
  if (agent) return { ...body, agentId: agent }
  if (!rules) return { ...body, policyId: policy }
  const { version, ...asTyped } = contentOf(rules).body
  return { ...body, policy: asTyped }
}

/** Refusals name a rule as `policy.<name>`. */
function showTrouble(attempt, rules, error) {
  if (!(error instanceof Refused)) throw error
  const said = error.said.replace(/(^|; )policy\./g, '$1')
  const form = rules && said !== error.said ? rules : attempt
  showFormRefusal(form, form.querySelector('button') ?? form.elements[0], said, { isTyping: true })
}

function simulateIn(attempt) {
  const rules = document.getElementById(attempt.dataset.rules ?? '')
  const result = attempt.querySelector('[data-result]')
  let timer
  let isAsking = false
  let isDue = false

  async function ask() {
    if (isAsking) {
      isDue = true
      return
    }
    if (!attempt.elements.amountEuros?.value) return result.replaceChildren()
    isAsking = true
    isDue = false
    result.setAttribute('aria-busy', 'true')
    for (const form of [attempt, rules]) if (form) clearFormRefusal(form)
    try {
      show(result, await call('POST', 'policies/simulate', { body: questionOf(attempt, rules) }))
    } catch (error) {
      result.replaceChildren()
      showTrouble(attempt, rules, error)
    } finally {
      result.removeAttribute('aria-busy')
      isAsking = false
    }
    if (isDue) await ask()
  }

  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void ask(), TYPED_MS)
  }
  for (const form of [attempt, rules]) form?.addEventListener('input', soon)
  attempt.addEventListener('submit', event => {
    event.preventDefault()
    clearTimeout(timer)
    void ask()
  })
  // After going back, the browser fills the form before this script listens.
  void ask()
}

for (const attempt of all('form[data-simulate]')) simulateIn(attempt)
