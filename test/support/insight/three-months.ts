import { expect } from '@jest/globals'
import { aPolicy, aRun, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { aPayingOwner, comeBack, later, type PayingOwner, pay, payByCard, todayOf } from './paying.ts'

const DAY_MS = 86_400_000

/** The next year that begins on a Monday and has no 29 February, so that its days are always the same. */
export function nextYearFrom(today: string): string {
  for (let year = Number(today.slice(0, 4)) + 1; ; year++) {
    const first = new Date(Date.UTC(year, 0, 1))
    const days = (Date.UTC(year + 1, 0, 1) - first.getTime()) / DAY_MS
    if (first.getUTCDay() === 1 && days === 365) return first.toISOString().slice(0, 10)
  }
}

const YEAR_DAYS = 365

/** An owner whose clock is at the beginning of such a year, before any payment. */
async function anOwnerInTime(service: TestService) {
  const owner = await service.owner()
  const today = await todayOf(owner.client)
  const first = nextYearFrom(today)
  for (let left = (Date.parse(first) - Date.parse(today)) / DAY_MS; left > 0; left -= YEAR_DAYS)
    await later(owner.client, Math.min(left, YEAR_DAYS))
  return { ...(await aPayingOwner(service, owner)), first }
}

/**
 * Monday to Friday in cents, from 13 to 31 euros, alternating and rising towards the end of the week, with
 * the same total each week.
 */
export function boughtOn(day: number): number {
  const [week, weekday] = [Math.floor(day / 7), day % 7]
  return weekday < 5 ? 1_300 + 200 * weekday + 250 * ((2 * week + weekday) % 5) : 0
}

const TEAMS = [{ team: 'research' }, { team: 'sales' }, {}]

/** Days of a monthly subscription's charge: the 15th of each month. */
const SUBSCRIBED = new Map([
  [14, 12.99],
  [45, 12.99],
  [73, 15.99],
])

/** Days of unusually high card spending. */
const BURST = [40, 41, 42]
const DAYS = 90
const CHARGED_TWICE_ON = 89 - ((89 - 5) % 7)

/**
 * Three months of an agent that buys on weekdays, and of one whose card has subscriptions and bursts, and two
 * wrong charges.
 */
export async function threeMonths(service: TestService) {
  const owner = await anOwnerInTime(service)
  const { client, agent } = owner
  const run = await aRun(client, agent.id)
  const outcomes: { readonly intentId: string; readonly success: boolean; readonly valueEuros: number }[] = []
  const came: { readonly on: string; readonly euros: number }[] = []
  for (let day = 0; day < DAYS; day++) {
    if (boughtOn(day) > 0) {
      const metadata = TEAMS[day % TEAMS.length] as Record<string, string>
      const { intent } = await pay(owner, boughtOn(day) / 100, {
        metadata,
        ...(day % 7 === 1 && { runId: run.id }),
      })
      const told = { intentId: intent.id, success: day % 3 > 0, valueEuros: day }
      if (day % 7 === 0) {
        await bodyOf(client.outcomes.create({ body: told }))
        outcomes.push(told)
      }
    }
    await payCharges(owner, day)
    if (BURST.includes(day)) {
      const paid = await payByCard(owner, 40 + day, day % 2 ? 'AMZN MKTP DE*1X2Y3' : 'Amazon')
      await payByCard(owner, 55.5, 'Rare Maps')
      if (day === 41) await comeBack(owner, paid, 10.01)
      if (day === 41) came.push({ on: await todayOf(client), euros: 10.01 })
    }
    if (day === 60) await beRefused(owner)
    await later(client, 1)
  }
  return { ...owner, run, outcomes, came, last: DAYS - 1 }
}

/** Regular charges: each month and each Saturday, one of them twice. */
async function payCharges(owner: PayingOwner, day: number): Promise<void> {
  const subscribed = SUBSCRIBED.get(day)
  if (subscribed !== undefined) await payByCard(owner, subscribed, 'NETFLIX.COM')
  if (day % 7 !== 5) return
  await payByCard(owner, 20, 'Deutsche Bahn')
  if (day === CHARGED_TWICE_ON) await payByCard(owner, 20, 'Deutsche Bahn')
}

/** One payment that a person denies, and one by card that the rules decline. */
async function beRefused({ client, agent, card, shopId }: PayingOwner): Promise<void> {
  const asked = { agentId: agent.id, walletId: shopId, amountEuros: 20_000, purpose: 'A yacht' }
  const { id } = await bodyOf(client.intents.create({ body: asked }))
  await bodyOf(client.intents.deny({ params: { id }, body: { reason: 'Too dear' } }))
  const body = { cardId: card.id, amountEuros: 9_000, merchant: 'Bookshop', mcc: '5942', country: 'DE' }
  expect((await bodyOf(client.sandbox.authorizeCard({ body }))).reply).toBe('declined')
}

/** Limits the agent's month and lets it buy until it is refused; returns that day. */
export async function buyUntilRefused(owner: PayingOwner, day: number): Promise<string> {
  const { client, agent, shopId } = owner
  for (let n = day; n < day + 30; n++) {
    const amountEuros = boughtOn(n) / 100
    if (amountEuros > 0) {
      const asked = { agentId: agent.id, walletId: shopId, amountEuros, purpose: 'A book' }
      const { id, status } = await bodyOf(client.intents.create({ body: asked }))
      if (status === 'denied') return todayOf(client)
      const body = { fromWalletId: agent.walletId, toWalletId: shopId, intentId: id, amountEuros }
      await bodyOf(client.transfers.create({ body }))
    }
    await later(client, 1)
  }
  throw new Error('the limit was to be used up within the month')
}

export async function limitMonth({ client, agent }: PayingOwner, monthlyLimitEuros: number): Promise<void> {
  const { id: policyId } = await aPolicy(client, { monthlyLimitEuros, autoApproveLimitEuros: 10_000 })
  await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId } }))
}
