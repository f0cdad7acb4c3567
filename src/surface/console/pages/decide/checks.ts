import { policyRuleTable } from '../../../../control/rules/index.ts'
import { jsonName } from '../../../../values/json-names.ts'
import { type Html, html } from '../../../../web/html.ts'
import { isCardUnusable, limitUnitOfRule, ruleName, rulesWithoutLimit } from '../../../console-pages/index.ts'
import type { PageRequest } from '../../page.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { renderTable } from '../../parts/table.ts'
import { countOf, noneText, renderEuros, renderText } from '../../parts/text.ts'
import type { IntentItem } from './waiting.ts'

const INSUFFICIENT_FUNDS = 'insufficient_funds'

const unknownFields: Readonly<Record<string, string>> = {
  mcc: 'The merchant category',
  country: 'The country',
}

/** A check names the field that an agent left out; a person reads what it is. */
export const messageText = (message: string): string =>
  message.replace(
    /^(mcc|country) is not set, and only .*$/,
    (_, field: string) => `${unknownFields[field]} is unknown, and only some are allowed.`,
  )

export type IntentCheck = IntentItem['decision']['checks'][number]

export function renderReviewRules({ decision, possibleDuplicateOf }: IntentItem, request: PageRequest): Html {
  const asking = decision.checks.filter(({ outcome }) => outcome === 'review')
  const said = ({ rule, message }: IntentCheck): Html =>
    rule === 'possibleDuplicate' && possibleDuplicateOf !== null
      ? html`of ${renderRecordLink(request, possibleDuplicateOf)}: same merchant and amount, minutes ago.`
      : renderText(messageText(message), 500)
  if (asking.length === 0) return html``
  return html`<ul class="reasons">${asking.map(check => html`<li${check.rule === 'possibleDuplicate' && html` class="alike"`}><strong>${ruleName(check.rule, 'en')}</strong> ${said(check)}</li>`)}</ul>`
}

/** The check that denied an intent, which the decision gives as its reason, and then every other one that failed. */
export function renderDenyingRules({ reason, checks }: IntentItem['decision']): Html {
  const failing = checks.filter(({ outcome }) => outcome === 'fail')
  const first = failing.find(({ message }) => message === reason) ?? failing[0]
  if (!first) return html``
  const others = failing.filter(check => check !== first)
  return html`<p class="denial"><strong>${ruleName(first.rule, 'en')}</strong> ${renderText(messageText(first.message), 500)}</p>
${others.length > 0 && html`<p>Also against: ${others.map(({ rule }) => ruleName(rule, 'en')).join(', ')}.</p>`}`
}

const isLimit = ({ rule, remaining, limit }: IntentCheck): boolean =>
  remaining !== null && limit !== null && !rulesWithoutLimit.has(rule)

const shareLeft = ({ remaining, limit }: IntentCheck): number => (remaining ?? 0) / (limit || 1)

const narrowestFirst = (checks: readonly IntentCheck[]): IntentCheck[] =>
  checks.filter(isLimit).sort((one, other) => shareLeft(one) - shareLeft(other))

/** A limit for each payment, or the balance that a payment exceeds: nothing is used up, so nothing is left of it. */
const standingRules: ReadonlySet<string> = new Set([jsonName('maxTransactionCents'), INSUFFICIENT_FUNDS])

const leftOf = (check: IntentCheck): Html =>
  standingRules.has(check.rule) ? noneText : amount(check, check.remaining)

const MOST_IN_LINE = 4

/** What is left of the narrowest limits, in one line. */
export function renderLimitsLine(checks: readonly IntentCheck[]): Html {
  const narrowest = narrowestFirst(checks).slice(0, MOST_IN_LINE)
  if (narrowest.length === 0) return html``
  return html`<ul class="left">${narrowest.map(check =>
    standingRules.has(check.rule)
      ? html`<li>${ruleName(check.rule, 'en')} <strong>${amount(check, check.limit)}</strong></li>`
      : html`<li>${ruleName(check.rule, 'en')} <strong>${amount(check, check.remaining)}</strong> of ${amount(check, check.limit)} left</li>`,
  )}</ul>`
}

export function renderRemainingLimits(
  { checks }: IntentItem['decision'],
  request: PageRequest,
  now?: readonly IntentCheck[],
): Html {
  const limits = narrowestFirst(checks)
  if (limits.length === 0) return html`<p>No limits.</p>`
  return renderTable(request, 'Remaining limits', limits, {
    Rule: ({ rule }) => ruleName(rule, 'en'),
    Limit: { figure: check => amount(check, check.limit) },
    Used: { figure: check => amount(check, check.used) },
    [now ? 'Left at request' : 'Left']: { figure: leftOf },
    ...(now && {
      'Left now': { figure: ({ rule }: IntentCheck) => leftNow(rule, now) },
    }),
  })
}

function leftNow(rule: string, now: readonly IntentCheck[]): Html {
  const check = now.find(one => one.rule === rule)
  return check ? leftOf(check) : noneText
}

/** An approval needs the money at once: a balance that is too low refuses it, though an intent may wait with it. */
const refusesApproval = ({ rule, outcome }: IntentCheck): boolean =>
  outcome === 'fail' || rule === INSUFFICIENT_FUNDS

/** Checks by which the service would refuse an approval at present. */
export const approvalBlockers = (now: readonly IntentCheck[]): IntentCheck[] => now.filter(refusesApproval)

/** What is in the place of the button that approves: each reason, and how to change it. */
export function renderApprovalBlockers(
  blockers: readonly IntentCheck[],
  { agentId }: Pick<IntentItem, 'agentId'>,
  request: PageRequest,
): Html {
  const remedyOf = (rule: string) =>
    policyRuleTable.find(({ name, alias }) => name === rule || alias === rule)?.remedy ?? null
  return html`<div class="denial"><p><strong>This cannot be approved now.</strong></p>
<ul>${blockers.map(({ rule, message }) => html`<li><strong>${ruleName(rule, 'en')}</strong> ${renderText(messageText(message), 500)} ${renderText(remedyOf(rule), 500)}</li>`)}</ul>
<p><a href="${request.to(`console/agents/${agentId}?tab=limits`)}">Limits and money of the agent</a></p></div>`
}

/** Holds up the payment after an approval. */
export function renderUnusableCard(now: readonly IntentCheck[]): Html {
  const unusable = now.filter(isCardUnusable)
  if (unusable.length === 0) return html``
  return html`<ul class="reasons">${unusable.map(({ rule, message }) => html`<li class="alike"><strong>Now: ${ruleName(rule, 'en')}</strong> ${renderText(messageText(message), 500)}</li>`)}</ul>`
}

function amount({ rule }: IntentCheck, value: number | null): Html {
  const unit = limitUnitOfRule(rule)
  if (value === null || unit === 'euros') return renderEuros(value)
  return html`${unit === 'minutes' ? `${value} min` : countOf(value, 'payment')}`
}

interface Rule {
  readonly rule: string
  readonly outcome: string
  readonly message: string
  readonly remedy: string | null
}

const outcomes: Readonly<Record<string, readonly [tone: string, words: string]>> = {
  fail: ['bad', 'Denied'],
  review: ['waiting', 'Needs approval'],
  pass: ['good', 'Passed'],
  skip: ['plain', 'Not applicable'],
}

export function renderRulesTable(rules: readonly Rule[], request: PageRequest): Html {
  const order = Object.keys(outcomes)
  const [silent, said] = [true, false].map(isSilent =>
    rules
      .filter(({ outcome }) => (outcome === 'skip') === isSilent)
      .toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome)),
  ) as [Rule[], Rule[]]
  return html`${ruleRows(said, request)}${
    silent.length > 0 &&
    html`<details class="more"><summary>${countOf(silent.length, 'rule')} not applicable</summary>${ruleRows(silent, request)}</details>`
  }`
}

const ruleRows = (rules: readonly Rule[], request: PageRequest): Html =>
  renderTable(request, 'Rules', rules, {
    Rule: ({ rule }) => ruleName(rule, 'en'),
    Outcome: ({ outcome }) => {
      const [tone, words] = outcomes[outcome] ?? ['plain', outcome]
      return html`<span class="status ${tone}">${words}</span>`
    },
    Reason: ({ message }) => renderText(messageText(message), 500),
    Remedy: ({ remedy }) => renderText(remedy, 500),
  })
