import { beforeEach, describe, expect, test } from '@jest/globals'
import { TOO_LATE_MESSAGE } from '../../../src/cards/authorizations/card-checks.ts'
import { type Cents, cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop, networkBefore } from '../../support/cards/network.ts'
import { type FlakyProxy, flakyProxy } from '../../support/flaky-proxy.ts'
import { startTestService } from '../../support/harness.ts'
import { createTables, withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { balanceOf, paymentsOf } from './service.ts'

let proxy!: FlakyProxy

/** Answers the network within a tenth of a second. */
const hasty = await startTestService({
  env: { CARD_AUTH_TIMEOUT_MS: '100' },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const network = networkBefore(hasty)

async function aCardholder() {
  const { client, ownerId } = await hasty.owner()
  return { client, ownerId, ...(await aPayingCard(client, 100)) }
}

type Cardholder = Awaited<ReturnType<typeof aCardholder>>

const request = (authorizationId: string, amountCents: Cents) => ({
  kind: 'authorization' as const,
  authorizationId,
  ask: 0,
  amountCents,
  partialAllowed: false,
  merchant: bookshop,
})

const messageOf = ({ card }: Cardholder, id: string) =>
  network.messageOf(card.id, request(card.id, cents(1_000n)), `${id} ${card.id}`)

const isHeld = async ({ client, agent }: Cardholder, heldEuros: number): Promise<boolean> => {
  const [available, held] = await balanceOf(agent.id, client)
  return available === 100 - heldEuros && held === heldEuros
}

/** The commit of the message for which the gate is closed waits there. */
await createTables(
  hasty.databaseUrl,
  `create table gate (closed_for text);
  insert into gate values (null);
  create function wait_at_gate() returns trigger language plpgsql security definer as $$
  begin
    while new.id = (select closed_for from gate) loop perform pg_sleep(0.005); end loop;
    return null;
  end $$;
  create constraint trigger gate after insert on card_messages deferrable initially deferred for each row
    execute function wait_at_gate()`,
)

const closeGate = (messageId: string) => hasty.sql('update gate set closed_for = $1', [messageId])
const openGate = () => hasty.sql('update gate set closed_for = null')

const AT_GATE = `from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`

const isAtGate = async () => (await hasty.sql(`select ${AT_GATE}`)).length > 0

/** A message that is being committed after the network's time for it. On a busy machine some are not decided in time. */
async function committedBeyondTime() {
  for (;;) {
    const holder = await aCardholder()
    const message = await messageOf(holder, 'gated')
    await closeGate(`gated ${holder.card.id}`)
    const answer = network.deliver(message)
    let isAnswered = false
    answer
      .catch(() => undefined)
      .finally(() => {
        isAnswered = true
      })
    await until('the message is being committed', async () => isAnswered || (await isAtGate()))
    await beyondTime()
    if (!isAnswered) return { holder, message, answer }
    await openGate()
  }
}

/** Returns once a request that came later than all before has been answered too late. */
async function beyondTime(): Promise<void> {
  const other = await aCardholder()
  await whileLocked(other, async () => {
    const { reply } = await network.deliver(await messageOf(other, 'locked'))
    expect(reply).toMatchObject({ kind: 'declined', reason: TOO_LATE_MESSAGE })
  })
}

const whileLocked = <T>({ agent }: Cardholder, work: () => Promise<T>): Promise<T> =>
  withConnection(hasty.databaseUrl, async holder => {
    await holder.query('begin')
    await holder.query('select from agents where id = $1 for update', [agent.id])
    return work().finally(() => holder.query('commit'))
  })

beforeEach(openGate)

describe('a request that is not decided in time', () => {
  test('is declined in time, and so in each repetition: nothing is held once the lock is gone', async () => {
    const holder = await aCardholder()
    const message = await messageOf(holder, 'late')
    const answers = await whileLocked(holder, async () => [
      await network.deliver(message),
      await network.deliver(message),
    ])
    const again = await network.deliver(message)
    expect(new Set([...answers, again].map(({ text }) => text)).size).toBe(1)
    expect(again.reply).toMatchObject({ kind: 'declined', reason: TOO_LATE_MESSAGE })
    // On a busy machine the repetition is late, too, and is on record after its answer.
    const payments = await until('it is on record', async () => {
      const found = await paymentsOf(holder.card.id, holder.client)
      return found.length > 0 && found
    })
    expect(payments).toMatchObject([{ status: 'declined' }])
    expect(await isHeld(holder, 0)).toBe(true)
  })
})

describe('the sandbox’s card network', () => {
  const BY_NETWORK = `
  select m.id, m.kind, a.facts -> 'outcome' as outcome from card_messages m
  join card_authorizations a on a.id = m.authorization_id where m.card_id = $1 order by m.id`

  test('reports what it has declined for a late answer, as Stripe does', async () => {
    const holder = await aCardholder()
    const { card, client } = holder
    const body = { cardId: card.id, amountEuros: 10, merchant: 'BOOKSHOP', messageId: `asked.${card.id}` }
    const simulate = () => client.sandbox.authorizeCard({ body })
    const [first] = await whileLocked(holder, async () => {
      const answer = simulate()
      await beyondTime()
      return [answer] as const
    })
    // On a busy machine the lock may outlast the report, whose simulation is then repeated.
    const { status } = await first
    const answer = await until('the report of the network', async () => {
      const given = await (status === 200 ? first : simulate())
      return given.status === 200 ? given.body : undefined
    })
    expect(answer).toMatchObject({ reply: 'declined', reason: TOO_LATE_MESSAGE })
    const outcome = [{ amount: '1000', approved: false }]
    const messages = await until('the decision that came too late', async () => {
      const rows = await hasty.sql(BY_NETWORK, [card.id])
      return rows.length > 1 ? rows : undefined
    })
    expect(messages).toEqual([
      { id: `asked.${card.id}`, kind: 'authorization', outcome },
      { id: `asked.${card.id}:outcome`, kind: 'outcome', outcome },
    ])
    expect(await paymentsOf(card.id, client)).toMatchObject([{ status: 'declined' }])
  })
})

describe('a decision that is being committed as the network’s time ends', () => {
  test('is the answer: the network is told what is stored, and nothing is withdrawn', async () => {
    const { holder, answer } = await committedBeyondTime()
    await openGate()
    expect((await answer).reply).toMatchObject({ kind: 'approved' })
    expect(await isHeld(holder, 10)).toBe(true)
    expect(await paymentsOf(holder.card.id, holder.client)).toMatchObject([{ status: 'authorized' }])
  })

  test('is a decline if that commit fails, and stays one', async () => {
    const { holder, message, answer } = await committedBeyondTime()
    await hasty.sql(`select pg_terminate_backend(pid) ${AT_GATE}`)
    await openGate()
    const { reply, text } = await answer
    expect(reply).toMatchObject({ kind: 'declined', reason: TOO_LATE_MESSAGE })
    expect((await network.deliver(message)).text).toBe(text)
    expect(await isHeld(holder, 0)).toBe(true)
  })

  test('is not answered if its outcome cannot be learnt: the network’s account of it decides', async () => {
    const { holder, answer } = await committedBeyondTime()
    const { authorizationId, merchant, amountCents } = request(holder.card.id, cents(1_000n))
    const failed = answer.catch(String)
    await proxy.close()
    const failure = await failed
    await proxy.open()
    expect(failure).toMatch(/^Error: 503 .*the outcome is unknown/)
    await openGate()
    await until('the commit', () => isHeld(holder, 10))
    const asks = [{ amountCents, approved: false }]
    await network.send(holder.card.id, { kind: 'outcome', authorizationId, asks, merchant })
    expect(await isHeld(holder, 0)).toBe(true)
    expect(await paymentsOf(holder.card.id, holder.client)).toMatchObject([{ status: 'declined' }])
  })
})
