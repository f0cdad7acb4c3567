import { expect, test } from '@jest/globals'
import { TOO_LATE_MESSAGE } from '../../../src/cards/authorizations/card-checks.ts'
import type { CardMessage } from '../../../src/ports/card-processor.ts'
import { cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop, networkBefore } from '../../support/cards/network.ts'
import { clientAt } from '../../support/client.ts'
import { cloneDatabase } from '../../support/database.ts'
import { bodyOf } from '../../support/factories.ts'
import { ENCRYPTION_KEY, type TestService } from '../../support/harness.ts'
import { createOwner, startApi } from '../../support/processes/processes.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

/** Authorizations of these messages that hold or have held money. */
const APPROVED = `
select a.id from card_messages m join card_authorizations a on a.id = m.authorization_id
where m.id = any($1) and a.approved_cents > 0`

test('an API process that is killed among authorizations and clearings has lost none, and made none twice', async () => {
  const databaseUrl = await cloneDatabase()
  let api = await startApi(databaseUrl, { ENCRYPTION_KEY })
  const token = await createOwner(api.url)
  const mine = () => clientAt({ url: api.url, token })
  const sql: TestService['sql'] = (text, values) =>
    withConnection(databaseUrl, async connection => (await connection.query(text, values)).rows)
  const network = () => networkBefore({ url: api.url, sql })
  const { agent, card } = await aPayingCard(mine(), 10_000)
  const shared = { amountCents: cents(1_000n), merchant: bookshop }
  const last = await network().messageOf(card.id, { kind: 'expiry', authorizationId: 'none' })
  const messages: CardMessage[] = Array.from({ length: 120 }, (_, n) => `n${n}`).flatMap(authorizationId => [
    {
      ...last,
      id: `ask ${authorizationId}`,
      content: { kind: 'authorization', authorizationId, ask: 0, partialAllowed: false, ...shared },
    },
    {
      ...last,
      id: `clearing ${authorizationId}`,
      content: { kind: 'clearing', clearingId: authorizationId, authorizationId, final: true, ...shared },
    },
  ])
  let answered = 0
  /** Sends everything; a request without an answer becomes undefined. */
  const sendAll = () =>
    Promise.all(
      messages.map(async message => {
        const answer = await network()
          .deliver(message)
          .catch(() => undefined)
        if (answer) answered++
        return answer?.text
      }),
    )
  const running = sendAll()
  await until('some answers', () => answered >= 20)
  api.kill('SIGKILL')
  await api.exit
  const before = await running
  expect(before).toContain(undefined)
  api = await startApi(databaseUrl, { ENCRYPTION_KEY })
  const declined = messages.filter((_, n) => before[n]?.includes(TOO_LATE_MESSAGE)).map(({ id }) => id)
  expect(await sql(APPROVED, [declined])).toEqual([])
  /**
   * The network sends a message again while the service is busy: locks of the killed process's connections
   * last until the database notices. Any other failure is a defect, and the test shows it.
   */
  const untilAnswered = (message: CardMessage): Promise<string> =>
    until(`an answer to ${message.id}`, () =>
      network()
        .deliver(message)
        .then(({ text }) => text)
        .catch((error: Error) => {
          if (!error.message.startsWith('503 ')) throw error
          return undefined
        }),
    )
  const after = await Promise.all(messages.map(untilAnswered))
  // Answered messages get the same bytes. A busy machine may answer some too late, either time: those count as
  // declined, and the process may have ended before it stored that.
  const isInTime = (text: string | undefined): boolean =>
    text !== undefined && !text.includes(TOO_LATE_MESSAGE)
  for (const [n, text] of before.entries())
    if (isInTime(text) && isInTime(after[n])) expect(after[n]).toBe(text)
  const { availableEuros, heldEuros } = await bodyOf(mine().agents.balance({ params: { id: agent.id } }))
  expect([availableEuros, heldEuros]).toEqual([8_800, 0])
  const decided = `select processor_ref from card_authorizations where card_id = $1 and processor_ref is not null`
  expect(await sql(decided, [card.id])).toHaveLength(120)
  await expectVerifiedLedger(mine())
  api.kill('SIGTERM')
  await api.exit
})
