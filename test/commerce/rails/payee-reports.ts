import { beforeEach, describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { sepaIn } from '../../support/commerce/sepa.ts'
import { aSepaTransfer, bodyOf } from '../../support/factories.ts'
import { bankFiles } from '../../support/money/bank-files.ts'
import { pain002 } from '../../support/money/pain002.ts'

const { live, service, proveLedgers, get, sweep, receiveFile, lastFile, cutOff, other, aSubmitted } =
  await bankFiles()
const { anOwner } = sepaIn(service)

beforeEach(cutOff)

describe('the verification of payee in a status report', () => {
  test('becomes the payee check of each payment; all but a match wait for a person', async () => {
    const transfers = await times(5, n => aSubmitted(n % 2 ? other : live))
    const by = (n: number) => (n % 2 ? other : live)
    const check = async (n: number) => (await get(transfers[n]?.id ?? '', by(n))).payeeCheck
    const waiting = async (client: typeof live) =>
      (await bodyOf(client.transfers.list({ query: { waitsFor: 'payee' } }))).data.map(({ id }) => id)
    await cutOff()
    const { messageId: to } = await lastFile()
    const statuses = ['RCVC', 'RVMC', 'RVNM', 'RVNA']
    const payments = statuses.map(
      (status, n) =>
        [transfers[n]?.endToEndId ?? '', status, status === 'RVMC' ? '|“Adler |GmbH' : ''] as const,
    )
    const answer = await bodyOf(receiveFile(pain002({ to, group: '<GrpSts>RVCM</GrpSts>', payments })))
    expect(answer.payments.map(({ status, notice, outcome }) => [status, notice, outcome])).toEqual(
      statuses.map(status => [status, 'payee_checked', 'taken']),
    )
    await sweep()
    expect(await check(0)).toMatchObject({ result: 'match', code: 'RCVC' })
    expect(await check(1)).toMatchObject({ result: 'close_match', code: 'RVMC', suggestedName: 'Adler GmbH' })
    expect(await check(2)).toMatchObject({ result: 'no_match', code: 'RVNM', suggestedName: null })
    expect(await check(3)).toMatchObject({ result: 'not_possible', code: 'RVNA' })
    expect(await check(4)).toMatchObject({ result: 'not_possible', code: null })
    expect(await waiting(live)).toEqual([transfers[2]?.id])
    expect((await waiting(other)).sort()).toEqual([transfers[1]?.id, transfers[3]?.id].sort())

    const confirm = (n: number) =>
      by(n).transfers.confirmPayee({
        params: { id: transfers[n]?.id ?? '' },
        body: { comment: 'Known to us' },
      })
    expect((await confirm(0)).code).toBe('payee_not_waiting')
    expect((await confirm(4)).code).toBe('payee_not_waiting')
    expect(await bodyOf(confirm(2))).toMatchObject({
      status: 'submitted',
      payeeConfirmedAt: expect.any(String),
    })
    expect(await waiting(live)).toEqual([])
    await bodyOf(
      receiveFile(pain002({ to, payments: transfers.map(({ endToEndId }) => [endToEndId, 'ACSC']) })),
    )
    await sweep()
    expect(await waiting(other)).toEqual([])
    expect((await get(transfers[2]?.id ?? '')).status).toBe('completed')
    await proveLedgers()
  })

  test('of a whole file holds for each payment that it does not name', async () => {
    const [named, unnamed] = [await aSubmitted(), await aSubmitted()]
    await cutOff()
    const { messageId: to } = await lastFile()
    const results = async (group: string, payments: Parameters<typeof pain002>[0]['payments'] = []) => {
      await bodyOf(receiveFile(pain002({ to, group: `<GrpSts>${group}</GrpSts>`, payments })))
      await sweep()
      return [(await get(named.id)).payeeCheck?.code, (await get(unnamed.id)).payeeCheck?.code]
    }
    expect(await results('RVCM')).toEqual(['RVCM', 'RVCM'])
    expect(await results('RCVC')).toEqual(['RCVC', 'RCVC'])
    expect(await results('RVCM', [[named.endToEndId, 'RVNM']])).toEqual(['RVNM', 'RCVC'])
  })

  test('counts in any order and however often, the most doubtful one', async () => {
    const { client, get, pass } = await anOwner()
    const reports = ['RCVC', 'RVNM', 'RVMC', 'RVNA'] as const
    const orders = reports.map((_, first) => [...reports.slice(first), ...reports.slice(0, first)])
    for (const order of orders) {
      const { id } = await aSepaTransfer(client, { amountEuros: 777.06 })
      await pass({ minutes: 1 })
      const verify = (status: (typeof reports)[number]) =>
        bodyOf(client.transfers.simulateVerify({ body: { transferId: id, status } }))
      for (const status of [...order, ...order.toReversed()]) await verify(status)
      expect((await get(id)).payeeCheck).toMatchObject({ result: 'no_match', code: 'RVNM' })
      const confirmed = await bodyOf(client.transfers.confirmPayee({ params: { id }, body: {} }))
      for (const status of order) expect(await verify(status)).toEqual(confirmed)
      await bodyOf(client.transfers.simulateSettle({ body: { transferId: id } }))
      expect((await get(id)).status).toBe('completed')
    }
  })

  test('needs another confirmation after a more doubtful report', async () => {
    const { client, pass } = await anOwner()
    const { id } = await aSepaTransfer(client, { amountEuros: 777.06 })
    await pass({ minutes: 1 })
    const confirm = () => client.transfers.confirmPayee({ params: { id }, body: {} })
    const body = { transferId: id, status: 'RVMC', suggestedName: 'Adler & Co' } as const
    expect(await bodyOf(client.transfers.simulateVerify({ body }))).toMatchObject({
      status: 'submitted',
      payeeCheck: { result: 'close_match', suggestedName: 'Adler & Co' },
    })
    await bodyOf(confirm())
    await bodyOf(client.transfers.simulateVerify({ body: { transferId: id, status: 'RVNM' } }))
    expect(await bodyOf(confirm())).toMatchObject({ payeeCheck: { code: 'RVNM' } })
    expect((await confirm()).code).toBe('payee_not_waiting')
  })
})
