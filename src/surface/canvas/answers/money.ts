import { dayOf } from '../../../values/clock.ts'
import type { Period, Slots } from '../interpreter/meaning.ts'
import { thisMonth } from '../interpreter/periods.ts'
import { say } from '../lines.ts'
import { type Answerer, euros, listed, minute, type Page } from '../speaker.ts'

const whose = ({ agent }: Slots) => (agent ? { agentId: agent.id } : {})
const within = ({ from, to }: Period) => ({ from: from.toISOString(), to: to.toISOString() })
/** Reports take days, the last one with them. */
const byDay = ({ from, to }: Period) => ({ from: dayOf(from), to: dayOf(new Date(to.getTime() - 1)) })

interface Payment {
  readonly merchant: string | null
  readonly type: string
  readonly amountEuros: number
  readonly refundedEuros: number
  readonly status: string
  readonly createdAt: string
}

const inWords = ({ amountEuros, merchant, type, status, createdAt }: Payment): string =>
  `${euros(amountEuros)} to ${merchant ?? type}, ${status}, ${minute(createdAt)}`

const PAID = new Set(['settlement', 'settled', 'completed', 'refunded'])

/** What is asked about money that was spent or is there. */
export const aboutMoney: Readonly<Record<string, Answerer>> = {
  async *spent(slots, speaker) {
    const period = slots.period ?? thisMonth(speaker.now)
    const report = yield* speaker.ask<Costs>('analytics.costs', { ...whose(slots), ...byDay(period) })
    if (!report) return
    const { netEuros, count, deniedCount } = report.total
    const who = slots.agent?.name ?? 'All together'
    const refused = deniedCount > 0 ? ` ${deniedCount} were refused.` : ''
    yield say(`${who}: ${euros(netEuros)} in ${count} payments, ${period.label}.${refused}`)
  },

  async *spentAt(slots, speaker) {
    const merchant = slots.merchant ?? ''
    const period = slots.period ?? thisMonth(speaker.now)
    const given = { ...whose(slots), ...within(period), merchant, limit: 100 }
    const page = yield* speaker.ask<Page<Payment>>('transactions.list', given)
    if (!page) return
    const paid = page.data.filter(({ status }) => PAID.has(status))
    const sum = paid.reduce((total, { amountEuros, refundedEuros }) => total + amountEuros - refundedEuros, 0)
    const least = page.hasMore ? 'at least ' : ''
    yield say(`${merchant} got ${least}${euros(sum)} in ${paid.length} payments, ${period.label}.`)
  },

  async *balance({ agent }, speaker) {
    if (!agent) return
    const balance = yield* speaker.ask<Balance>('agents.balance', { id: agent.id })
    if (!balance) return
    yield say(
      `${agent.name} has ${euros(balance.availableEuros)}, and ${euros(balance.heldEuros)} held for what is approved.`,
    )
  },

  async *balances(_, speaker) {
    const page = yield* speaker.ask<Page<Wallet>>('wallets.list', { status: 'active', limit: 50 })
    if (!page) return
    const lines = page.data.map(({ name, availableEuros }) => `${name}: ${euros(availableEuros)}`)
    yield listed(lines, { none: 'There are no wallets yet.', some: 'What is in the wallets:' }, page.hasMore)
  },

  async *left({ agent }, speaker) {
    const page = yield* speaker.ask<Page<Usage>>('policies.usage', agent ? { agentId: agent.id } : {})
    if (!page) return
    const lines = page.data.map(usageInWords)
    yield listed(lines, { none: 'There are no agents yet.', some: 'What is left:' }, page.hasMore)
  },

  async *payments(slots, speaker) {
    const limit = Math.min(Math.max(Math.round(slots.count ?? 5), 1), 20)
    const given = { ...whose(slots), ...(slots.period ? within(slots.period) : {}), limit }
    const page = yield* speaker.ask<Page<Payment>>('transactions.list', given)
    if (!page) return
    const lines = page.data.map(inWords)
    yield listed(lines, { none: 'There are no payments.', some: 'The newest payments:' }, page.hasMore)
  },

  async *merchants(slots, speaker) {
    const period = slots.period ?? thisMonth(speaker.now)
    const report = yield* speaker.ask<Rows<Merchant>>('analytics.merchants', { ...byDay(period), limit: 10 })
    if (!report) return
    const lines = report.data.map(({ key, names, netEuros }) => `${names[0] ?? key}: ${euros(netEuros)}`)
    yield listed(lines, { none: `Nobody was paid ${period.label}.`, some: `Who got most, ${period.label}:` })
  },

  async *unusual(slots, speaker) {
    const report = yield* speaker.ask<Rows<{ readonly sentence: string }>>(
      'analytics.anomalies',
      slots.period ? byDay(slots.period) : {},
    )
    if (!report) return
    const lines = report.data.map(({ sentence }) => sentence)
    yield listed(lines, { none: 'Nothing was unusual.', some: 'This was unusual:' })
  },

  async *forecast({ agent }, speaker) {
    const asked = agent ? 'forecast.ofAgent' : 'forecast.ofOwner'
    const forecast = yield* speaker.ask<Forecast>(asked, { ...(agent ? { id: agent.id } : {}), days: 30 })
    if (!forecast) return
    const who = agent?.name ?? 'All together'
    const { total, runsOut } = forecast
    if (!total) return yield say(`${who}: too little has been spent so far to say.`)
    yield say(
      `${who} will spend about ${euros(total.p50)} in the next 30 days, in eight of ten cases between ${euros(total.p10)} and ${euros(total.p90)}.`,
    )
    if (agent)
      yield say(
        runsOut.wallet.p50 === null
          ? 'The wallet lasts for more than 90 days.'
          : `The wallet is used up about ${runsOut.wallet.p50}.`,
      )
  },

  async *receipts(slots, speaker) {
    const given = { ...whose(slots), ...(slots.period ? within(slots.period) : {}), limit: 20 }
    const page = yield* speaker.ask<Page<Missing>>('receipts.missing', given)
    if (!page) return
    const lines = page.data.map(
      ({ amountEuros, merchant, createdAt }) =>
        `${euros(amountEuros)} to ${merchant ?? 'somebody'}, ${minute(createdAt)}`,
    )
    yield listed(lines, { none: 'No receipt is missing.', some: 'Receipts are missing for:' }, page.hasMore)
  },

  async *statements(_, speaker) {
    const page = yield* speaker.ask<Page<Statement>>('statements.list', { limit: 20 })
    if (!page) return
    const lines = page.data.map(({ period, closingEuros }) => `${period}: ${euros(closingEuros)} at the end`)
    yield listed(lines, { none: 'There are no statements yet.', some: 'The statements:' }, page.hasMore)
  },
}

interface Rows<T> {
  readonly data: readonly T[]
}

interface Costs {
  readonly total: { readonly netEuros: number; readonly count: number; readonly deniedCount: number }
}

interface Balance {
  readonly availableEuros: number
  readonly heldEuros: number
}

interface Wallet {
  readonly name: string
  readonly availableEuros: number
}

interface Merchant {
  readonly key: string
  readonly names: readonly string[]
  readonly netEuros: number
}

interface Forecast {
  readonly total: { readonly p10: number; readonly p50: number; readonly p90: number } | null
  readonly runsOut: { readonly wallet: { readonly p50: string | null } }
}

type Missing = Pick<Payment, 'amountEuros' | 'merchant' | 'createdAt'>

interface Statement {
  readonly period: string
  readonly closingEuros: number
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

function usageInWords({ name, availableEuros, day, month }: Usage): string {
  const limits = [leftOf(day, 'today'), leftOf(month, 'this month')].filter(words => words !== undefined)
  return [`${name}: ${euros(availableEuros)} in the wallet`, ...limits].join(', ')
}

const leftOf = ({ limitEuros, remainingEuros }: Limit, when: string): string | undefined =>
  limitEuros === null || remainingEuros === null
    ? undefined
    : `${euros(remainingEuros)} of ${euros(limitEuros)} left ${when}`
