import { pay as payByCard } from '../../support/commerce/machine-payer.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const service = await startTestService({
  env: { ACCOUNT_HOLDER: 'Zahlungsstelle für Agenten & Söhne' },
})

const owner = await service.owner()
export const { client } = owner
export const customer = await bodyOf(client.customers.me())
export const wallet = await aWallet(client)

const PRIVATE = { payerName: 'Zoë Verborgen', payerEmail: 'zoe@verborgen.example' }

/** Must not reach a payer. */
export const secrets = [
  ...Object.values(PRIVATE),
  'Verborgen',
  'unlocked-secret',
  'metadata-secret',
  wallet.name,
]

/** The payer's name and email must not be shown. */
export const aRequest = (members: { amountEuros?: number; description?: string } = {}) =>
  bodyOf(
    client.collect.create({
      body: {
        walletId: wallet.id,
        amountEuros: 12.5,
        description: 'Report 17',
        expiresInHours: 72,
        metadata: { note: 'metadata-secret' },
        unlocks: { licence: 'unlocked-secret' },
        ...PRIVATE,
        ...members,
      },
    }),
  )

export type Request = Awaited<ReturnType<typeof aRequest>>

export const pay = ({ reference }: Request, amountEuros: number) =>
  bodyOf(
    client.incoming.simulate({
      body: {
        amountEuros,
        iban: String(wallet.iban),
        reference,
        senderName: 'Payer',
        senderIban: 'DE89370400440532013000',
      },
    }),
  )

async function requestsInEveryState() {
  const [open, partly, paid, cancelled, refunded] = await Promise.all(
    Array.from({ length: 5 }, () => aRequest()),
  )
  if (!open || !partly || !paid || !cancelled || !refunded) throw new Error('no requests')
  await pay(partly, 5)
  await pay(paid, 12.5)
  await payByCard(`${service.url}/collect/402/${refunded.id}`)
  await bodyOf(client.collect.cancel({ params: { id: cancelled.id }, body: {} }))
  await bodyOf(client.collect.refund({ params: { id: refunded.id }, body: {} }))
  return { open, partly, paid, cancelled, refunded }
}

export const requests = await requestsInEveryState()
