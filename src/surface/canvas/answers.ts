import { utcDay } from '../../values/clock.ts'
import { type AnswerLine, textLine } from './lines.ts'
import { parseSentence } from './parser/parse.ts'
import type { IntentSlots, NamedAgent, ParsedPeriod } from './parser/parsed-intent.ts'
import { thisMonth } from './parser/periods.ts'
import {
  type CanvasPage,
  type CanvasResponder,
  formatEuros,
  formatMinuteUtc,
  type IntentAnswerer,
  listLine,
} from './responder.ts'

const ofAgent = ({ agent }: IntentSlots) => (agent ? { agentId: agent.id } : {})
const within = ({ from, to }: ParsedPeriod) => ({ from: from.toISOString(), to: to.toISOString() })
const byDay = ({ from, to }: ParsedPeriod) => ({ from: utcDay(from), to: utcDay(new Date(to.getTime() - 1)) })

interface Intent {
  readonly id: string
  readonly amountEuros: number
  readonly merchant: string | null
  readonly purpose: string
  readonly createdAt: string
  readonly approval: Approvals | null
}

/** Where a policy asks several people. */
interface Approvals {
  readonly given: number
  readonly needed: number
}

const approvalsText = (approval: Approvals | null): string =>
  approval === null ? '' : `, ${approval.given} of ${approval.needed} approvals`

const intentLine = ({ id, amountEuros, merchant, purpose, approval }: Intent): string =>
  `${formatEuros(amountEuros)} to ${merchant ?? 'a payee'}: ${purpose.slice(0, 100)} (${id}${approvalsText(approval)})`

interface ChangeRequest {
  readonly id: string
  readonly changes: readonly {
    readonly id: string
    readonly name: string | null
    readonly field: string
    readonly to: string
  }[]
  readonly approval: Approvals
}

const changeLine = ({ id, changes, approval }: ChangeRequest): string => {
  const texts = changes.map(change => `${change.field} of ${change.name ?? change.id} to ${change.to}`)
  return `${texts.join('; ').slice(0, 200)} (${id}${approvalsText(approval)})`
}

interface Payment {
  readonly merchant: string | null
  readonly type: string
  readonly amountEuros: number
  readonly refundedEuros: number
  readonly status: string
  readonly createdAt: string
}

const PAID = new Set(['settlement', 'settled', 'completed', 'refunded'])

/** Spending by merchant comes from transactions: reports group by merchant, but cannot search by free text. */
async function* spentAt(
  merchant: string,
  slots: IntentSlots,
  period: ParsedPeriod,
  responder: CanvasResponder,
): AsyncGenerator<AnswerLine> {
  const given = { ...ofAgent(slots), ...within(period), merchant, limit: 100 }
  const page = yield* responder.ask<CanvasPage<Payment>>('transactions.list', given)
  if (!page) return
  const paid = page.data.filter(({ status }) => PAID.has(status))
  const sum = paid.reduce((total, { amountEuros, refundedEuros }) => total + amountEuros - refundedEuros, 0)
  const least = page.hasMore ? 'at least ' : ''
  yield textLine(`${merchant} got ${least}${formatEuros(sum)} in ${paid.length} payments, ${period.label}.`)
}

interface Limit {
  readonly limitEuros: number | null
  readonly remainingEuros: number | null
}

interface Usage {
  readonly name: string
  readonly availableEuros: number
  readonly day: Limit
  readonly month: Limit
}

function usageLine({ name, availableEuros, day, month }: Usage): string {
  const limits = [remainder(day, 'today'), remainder(month, 'this month')].filter(line => line !== undefined)
  return [`${name}: ${formatEuros(availableEuros)} in the wallet`, ...limits].join(', ')
}

const remainder = ({ limitEuros, remainingEuros }: Limit, when: string): string | undefined =>
  limitEuros === null || remainingEuros === null
    ? undefined
    : `${formatEuros(remainingEuros)} of ${formatEuros(limitEuros)} left ${when}`

interface Costs {
  readonly total: { readonly netEuros: number; readonly count: number; readonly deniedCount: number }
  readonly data: readonly {
    readonly name: string | null
    readonly netEuros: number
    readonly count: number
  }[]
  readonly other: object | null
}

const paymentsText = (count: number): string => (count === 1 ? '1 payment' : `${count} payments`)

interface Explanation {
  readonly summary: string
  readonly rules: readonly { readonly remedy: string | null }[]
}

interface Policy {
  readonly merchantAllowlist: readonly string[]
  readonly merchantBlocklist: readonly string[]
  readonly [member: string]: unknown
}

const LIMITS = { day: 'dailyLimitEuros', month: 'monthlyLimitEuros', payment: 'maxTransactionEuros' } as const

const without = (list: readonly string[], name: string) =>
  list.filter(one => one.toLowerCase() !== name.toLowerCase())

async function* waitingIntentId(
  { intentId }: IntentSlots,
  responder: CanvasResponder,
): AsyncGenerator<AnswerLine, string | undefined> {
  if (intentId !== undefined) return intentId
  const page = yield* responder.ask<CanvasPage<Intent>>('intents.list', { status: 'created', limit: 5 })
  if (!page) return undefined
  const [last, ...others] = page.data
  if (last && others.length === 0) return last.id
  const some = 'Several payments are waiting. Name one by its ID:'
  yield listLine(page.data.map(intentLine), { none: 'No payments are waiting.', some }, page.hasMore)
  return undefined
}

const answerers: Readonly<Record<string, IntentAnswerer>> = {
  async *waiting(_, responder) {
    const intents = yield* responder.ask<CanvasPage<Intent>>('intents.list', { status: 'created', limit: 20 })
    const payments = intents?.data.map(intentLine) ?? []
    if (payments.length > 0)
      yield listLine(payments, { none: '', some: 'Waiting payments:' }, intents?.hasMore)
    const proposals = yield* responder.ask<CanvasPage<{ readonly id: string; readonly summary: string }>>(
      'proposals.list',
      { status: 'open', limit: 20 },
    )
    const proposed = proposals?.data.map(({ id, summary }) => `${summary} (${id})`) ?? []
    if (proposed.length > 0)
      yield listLine(proposed, { none: '', some: 'Open proposals:' }, proposals?.hasMore)
    const changes = yield* responder.ask<CanvasPage<ChangeRequest>>('changeRequests.list', {
      status: 'waiting',
      limit: 20,
    })
    const changed = changes?.data.map(changeLine) ?? []
    if (changed.length > 0) yield listLine(changed, { none: '', some: 'Waiting changes:' }, changes?.hasMore)
    const place = responder.pageOf('/console/inbox')
    if (payments.length + proposed.length + changed.length > 0) yield textLine(`Decide them at ${place}.`)
    else if (intents && proposals && changes) yield textLine('Nothing is waiting for approval.')
  },

  async *spent(slots, responder) {
    const period = slots.period ?? thisMonth(responder.now)
    if (slots.merchant !== undefined) return yield* spentAt(slots.merchant, slots, period, responder)
    const report = yield* responder.ask<Costs>('analytics.costs', { ...ofAgent(slots), ...byDay(period) })
    if (!report) return
    const { netEuros, count, deniedCount } = report.total
    const who = slots.agent?.name ?? 'All agents'
    const refused = deniedCount > 0 ? ` ${deniedCount} ${deniedCount === 1 ? 'was' : 'were'} denied.` : ''
    yield textLine(`${who}: ${formatEuros(netEuros)} in ${paymentsText(count)}, ${period.label}.${refused}`)
  },

  async *byAgent(slots, responder) {
    const period = slots.period ?? thisMonth(responder.now)
    const report = yield* responder.ask<Costs>('analytics.costs', { ...byDay(period), limit: 5 })
    if (!report) return
    const lines = report.data
      .filter(({ count }) => count > 0)
      .map(
        ({ name, netEuros, count }) => `${name ?? 'You'}: ${formatEuros(netEuros)} in ${paymentsText(count)}`,
      )
    const none = `Nothing was spent ${period.label}.`
    yield listLine(lines, { none, some: `The most was spent, ${period.label}, by:` }, report.other !== null)
    if (lines.length > 0) yield textLine(`Every agent is at ${responder.pageOf('/console/costs')}.`)
  },

  async *balance(slots, responder) {
    const page = yield* responder.ask<CanvasPage<Usage>>('policies.usage', ofAgent(slots))
    if (!page) return
    const lines = page.data.map(usageLine)
    yield listLine(lines, { none: 'No agents yet.', some: 'Remaining budgets:' }, page.hasMore)
  },

  async *wallets(_, responder) {
    const page = yield* responder.ask<CanvasPage<{ readonly name: string; readonly availableEuros: number }>>(
      'wallets.list',
      { status: 'active', limit: 50 },
    )
    if (!page) return
    const lines = page.data.map(({ name, availableEuros }) => `${name}: ${formatEuros(availableEuros)}`)
    yield listLine(lines, { none: 'No wallets yet.', some: 'Wallet balances:' }, page.hasMore)
  },

  async *payments(slots, responder) {
    const { count = 5, merchant, period } = slots
    const limit = Math.min(Math.max(Math.round(count), 1), 20)
    const given = { ...ofAgent(slots), ...(period && within(period)), ...(merchant && { merchant }), limit }
    const page = yield* responder.ask<CanvasPage<Payment>>('transactions.list', given)
    if (!page) return
    const lines = page.data.map(
      ({ amountEuros, merchant, type, status, createdAt }) =>
        `${formatEuros(amountEuros)} to ${merchant ?? type}, ${status}, ${formatMinuteUtc(createdAt)}`,
    )
    yield listLine(lines, { none: 'No payments.', some: 'Newest payments:' }, page.hasMore)
  },

  async *why(slots, responder) {
    let { intentId } = slots
    if (intentId === undefined) {
      const given = { ...ofAgent(slots), status: 'denied', limit: 1 }
      const page = yield* responder.ask<CanvasPage<Intent>>('intents.list', given)
      if (!page) return
      const [last] = page.data
      if (!last) return yield textLine(`No refused payments${slots.agent ? ` of ${slots.agent.name}` : ''}.`)
      yield textLine(`${intentLine(last)}, ${formatMinuteUtc(last.createdAt)}.`)
      intentId = last.id
    }
    const explanation = yield* responder.ask<Explanation>('intents.explanation', { id: intentId })
    if (!explanation) return
    const remedies = explanation.rules.flatMap(({ remedy }) => remedy ?? [])
    yield textLine(explanation.summary)
    if (remedies.length > 0) yield listLine(remedies, { none: '', some: 'To get it approved:' })
  },

  async *freeze({ agent }, responder) {
    if (agent) yield* responder.propose('agents.freeze', { id: agent.id })
  },
  async *unfreeze({ agent }, responder) {
    if (agent) yield* responder.propose('agents.unfreeze', { id: agent.id })
  },

  async *limit({ agent, euros, per = 'day', merchant }, responder) {
    if (!agent) return
    const policy = yield* responder.ask<Policy>('policies.effective', { agentId: agent.id })
    if (!policy) return
    const { merchantAllowlist, merchantBlocklist } = policy
    const merchants = merchant !== undefined && {
      merchantAllowlist: [...without(merchantAllowlist, merchant), merchant],
      merchantBlocklist: without(merchantBlocklist, merchant),
    }
    yield* responder.propose('policies.replace', { ...policy, [LIMITS[per]]: euros, ...merchants })
  },

  async *card({ agent }, responder) {
    if (agent) yield* responder.propose('cards.create', { agentId: agent.id, usage: 'multi' })
  },
  async *approve(slots, responder) {
    const id = yield* waitingIntentId(slots, responder)
    if (id !== undefined) yield* responder.propose('intents.approve', { id })
  },
  async *deny(slots, responder) {
    const id = yield* waitingIntentId(slots, responder)
    if (id !== undefined)
      yield* responder.propose('intents.deny', { id, reason: 'Denied in a conversation.' })
  },
  async *help(_, responder) {
    yield textLine(`You can ask these things, with your own names and amounts:\n${examples(responder)}`)
  },
}

const EXAMPLES = [
  'What is waiting?',
  'Approve it / Deny the last one',
  'What did my agent spend at "Bookshop" this month?',
  'Which agent spent most this month?',
  'How much is left for my agent?',
  'Show me the last 5 payments to bookshop.example',
  'Why was the last one refused?',
  'Freeze my agent / Unfreeze my agent',
  'Let my agent spend 20 € a day at bookshop.example',
  'Issue a card for my agent',
  'Help',
]

const examples = (responder: CanvasResponder): string =>
  `${EXAMPLES.map(one => `- ${one}`).join('\n')}\nFor everything else, connect an assistant: ${responder.pageOf('/docs/guides/assistants')}`

export async function* answerIntent(
  sentence: string,
  responder: CanvasResponder,
  otherwise?: () => AsyncGenerator<AnswerLine>,
): AsyncGenerator<AnswerLine> {
  const page = yield* responder.ask<CanvasPage<NamedAgent>>('agents.list', { limit: 100 })
  if (!page) return
  const agents = page.data.map(({ id, name }) => ({ id, name }))
  const parsed = parseSentence(sentence, { agents, now: responder.now })
  if (parsed.kind === 'unclear') return yield textLine(parsed.question)
  const answerer = parsed.kind === 'request' ? answerers[parsed.name] : undefined
  if (parsed.kind === 'request' && answerer) return yield* answerer(parsed.slots, responder)
  if (otherwise) return yield* otherwise()
  yield textLine(`I did not understand that. You can ask these things:\n${examples(responder)}`)
}
