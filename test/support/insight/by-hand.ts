import { bodyOf, type TestClient } from '../factories.ts'

const MOST = 100

export async function everyOne<T>(
  read: (query: { limit: number; cursor?: string }) => Promise<{ data: T[]; nextCursor?: string | null }>,
): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | null | undefined; ; ) {
    const page = await read(cursor ? { limit: MOST, cursor } : { limit: MOST })
    all.push(...page.data)
    cursor = page.nextCursor
    if (!cursor) return all
  }
}

const PAID = ['settlement', 'settled', 'completed', 'refunded']

/** `GET /transactions` and `GET /intents` without sums. */
export async function toldByLists(client: TestClient) {
  const [transactions, intents] = await Promise.all([
    everyOne(query => bodyOf(client.transactions.list({ query }))),
    everyOne(query => bodyOf(client.intents.list({ query }))),
  ])
  return { transactions, intents, paid: transactions.filter(({ status }) => PAID.includes(status)) }
}

export type Paid = Awaited<ReturnType<typeof toldByLists>>['paid'][number]

const cents = (euros: number): number => Math.round(euros * 100)

/** Counts and sums in cents: spent, refunded and net. */
export function addedUp(paid: readonly Pick<Paid, 'amountEuros' | 'refundedEuros'>[]) {
  const spent = paid.reduce((sum, { amountEuros }) => sum + cents(amountEuros), 0)
  const back = paid.reduce((sum, { refundedEuros }) => sum + cents(refundedEuros), 0)
  return [paid.length, spent, back, spent - back]
}

/** The same by group, the highest net first. */
export const addedUpBy = (paid: readonly Paid[], keyOf: (one: Paid) => string | null) =>
  [...Map.groupBy(paid, keyOf)].map(([key, ofKey]) => [key, ...addedUp(ofKey)]).sort(byNet)

const byNet = (one: readonly unknown[], other: readonly unknown[]): number =>
  Number(other.at(-1)) - Number(one.at(-1))

/** The figures of a report's line, in the same form. */
export const figuresIn = (line: {
  count: number
  spentEuros: number
  refundedEuros: number
  netEuros: number
}) => [line.count, cents(line.spentEuros), cents(line.refundedEuros), cents(line.netEuros)]
