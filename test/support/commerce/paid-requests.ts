import { aSpender } from '../cards/reveal.ts'
import { aWallet, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { aRequest } from './requests.ts'

export function paidRequestsIn(service: TestService) {
  /** A payer with an agent, and another owner with a request for € 25; the same owner if `isOwn`. */
  async function aPayee({ isOwn = false, members = {} }: { isOwn?: boolean; members?: object } = {}) {
    const payer = await service.owner()
    const holder = isOwn ? payer : await service.owner()
    const agent = await aSpender(payer.client)
    const wallet = await aWallet(holder.client, 0, { name: 'Secret plans' })
    const request = await aRequest(holder.client, wallet.id, members)
    const { name } = await bodyOf(holder.client.customers.me())
    const declare = (more: object = {}) =>
      payer.client.intents.create({
        body: { agentId: agent.id, amountEuros: 25, purpose: 'Report 17', requestId: request.id, ...more },
      })
    return { payer, holder, agent, wallet, request, name, declare }
  }

  async function anApprovedPayee(options: Parameters<typeof aPayee>[0] = {}) {
    const payee = await aPayee(options)
    return { ...payee, intent: await bodyOf(payee.declare()) }
  }

  return { aPayee, anApprovedPayee }
}

export type Payee = Awaited<ReturnType<ReturnType<typeof paidRequestsIn>['aPayee']>>
