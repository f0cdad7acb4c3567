import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  cardLimitNames,
  limitsAfterRequest,
  limitsToApprove,
  raisedLimitProblem,
} from '../../../src/cards/card-requests/card-request.ts'
import { jsonName } from '../../../src/values/json-names.ts'
import { type Cents, cents } from '../../../src/values/money.ts'
import {
  aCardRequest,
  aCardWith,
  getCard,
  getRequest,
  minuteLater,
  untilIssued,
} from '../../support/cards/card-requests.ts'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const { client } = await service.owner()
const agent = await aFundedAgent(client)

const amount = fc.bigInt({ min: 0n, max: 10n }).map(cents)
const limit = fc.option(amount, { nil: null })
const limits = fc.record({ maxTransactionCents: limit, dailyLimitCents: limit, monthlyLimitCents: limit })
const given = fc.record(
  { maxTransactionCents: limit, dailyLimitCents: limit, monthlyLimitCents: limit },
  { requiredKeys: [] },
)

/** Null is no limit. */
const isNoLower = (one: Cents | null, other: Cents | null): boolean =>
  one === null || (other !== null && one >= other)

describe('the limits of an approval', () => {
  test('are refused only if they raise or drop a requested limit, or raise one that was not requested', () => {
    fc.assert(
      fc.property(limits, given, limits, (asked, approver, current) => {
        const problem = raisedLimitProblem(asked, approver, current)
        const wrong = cardLimitNames.filter(name => {
          const one = approver[name]
          if (one === undefined) return false
          const most = asked[name] ?? current[name]
          return one === null ? asked[name] !== null : most !== null && one > most
        })
        expect(problem?.split(':')[0]).toBe(wrong.length > 0 ? `limits.${wrong.map(jsonName)[0]}` : undefined)
      }),
      { numRuns: 1_000 },
    )
  })

  test('never exceed the requested limits, or the present ones if none was requested', () => {
    fc.assert(
      fc.property(limits, given, limits, limits, (asked, approver, current, later) => {
        fc.pre(raisedLimitProblem(asked, approver, current) === undefined)
        const approved = limitsToApprove(asked, approver)
        const result = limitsAfterRequest(asked, approved, later)
        for (const name of cardLimitNames) {
          const [most, approval] = [asked[name] ?? later[name], approver[name] ?? asked[name]]
          expect(isNoLower(most, result[name])).toBe(true)
          if (asked[name] !== null) expect(result[name]).toBe(approval)
          else if (approval === null || approval === undefined) expect(result[name]).toBe(later[name])
          else expect(isNoLower(approval, result[name])).toBe(true)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('are lowered and added by the approver, and the refusal of others names the member', async () => {
    const { id } = await aCardRequest(client, agent.id, {
      limits: { maxTransactionEuros: 50, monthlyLimitEuros: 200 },
    })
    const approve = (given: { [name: string]: number | null }) =>
      client.cardRequests.approve({ params: { id }, body: { limits: given } })
    expect(await approve({ maxTransactionEuros: 50.01 })).toMatchObject({
      status: 400,
      code: 'limit_not_lowered',
      error:
        'limits.maxTransactionEuros: € 50.01 is more than the requested € 50.00. An approver may lower a limit, but not raise it.',
    })
    expect(await approve({ monthlyLimitEuros: null })).toMatchObject({
      status: 400,
      error:
        'limits.monthlyLimitEuros: € 200.00 is requested. An approver may lower a limit, but not drop it.',
    })
    expect((await getRequest(client, id)).status).toBe('pending')
    await bodyOf(approve({ maxTransactionEuros: 25, dailyLimitEuros: 30 }))
    await untilIssued(client)
    const { cardId } = await getRequest(client, id)
    expect((await getCard(client, String(cardId))).limits).toEqual({
      maxTransactionEuros: 25,
      dailyLimitEuros: 30,
      monthlyLimitEuros: 200,
    })
  })

  test('limits without a request are never raised, even if the owner lowered them in the meantime', async () => {
    const card = await aCardWith(client, { dailyLimitEuros: 20 }, agent)
    const { id } = await aCardRequest(client, agent.id, {
      type: 'limit_change',
      cardId: card.id,
      limits: { maxTransactionEuros: 50 },
    })
    const approve = (dailyLimitEuros: number) =>
      client.cardRequests.approve({ params: { id }, body: { limits: { dailyLimitEuros } } })
    expect(await approve(21)).toMatchObject({
      status: 400,
      error:
        'limits.dailyLimitEuros: the card has € 20.00, and no more is requested. An approver may lower a limit, but not raise it.',
    })
    await bodyOf(approve(15))
    await bodyOf(client.cards.setLimits({ params: { id: card.id }, body: { dailyLimitEuros: 5 } }))
    await minuteLater(client)
    expect((await getCard(client, card.id)).limits).toEqual({
      maxTransactionEuros: 50,
      dailyLimitEuros: 5,
      monthlyLimitEuros: null,
    })
  })
})
