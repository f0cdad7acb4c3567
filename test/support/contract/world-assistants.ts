import {
  anAuthorization,
  approvedCode,
  connect,
  consentTo,
  type PersonInBrowser,
} from '../control/assistants.ts'
import { doorkeeperOf } from './world-pairings.ts'
import { inThirtyDays, type Make, type WorldService } from './world-passkeys.ts'

async function personOf(make: Make, service: WorldService): Promise<PersonInBrowser> {
  const { headers } = await doorkeeperOf(make, service)
  return { url: service.url, headers }
}

const newAgent = async (make: Make): Promise<string> =>
  (await make('POST', '/agents', { name: 'Shopper' })).id

async function approved(make: Make, service: WorldService) {
  const person = await personOf(make, service)
  return approvedCode(person, { agentId: await newAgent(make), expiresAt: inThirtyDays() })
}

export async function aConsent(make: Make, _path: string, service: WorldService) {
  const person = await personOf(make, service)
  const { ticket } = await consentTo(person, await anAuthorization(service.url))
  return { ticket, agentId: await newAgent(make), scopes: ['reader'], expiresAt: inThirtyDays() }
}

export const aCodeToRedeem = async (make: Make, _path: string, service: WorldService) =>
  (await approved(make, service)).request

export async function aTokenToRevoke(make: Make, _path: string, service: WorldService) {
  const code = await approved(make, service)
  const { access_token: token } = await connect(service.url, code)
  return { token, client_id: code.request.client_id }
}

export async function aConnectedAssistant(make: Make, service: WorldService): Promise<string> {
  const code = await approved(make, service)
  await connect(service.url, code)
  return code.id
}
