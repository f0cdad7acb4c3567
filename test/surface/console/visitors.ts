import type { areas } from '../../../src/areas.ts'
import type { PersonRole } from '../../../src/kernel/contract/scopes.ts'
import {
  anAuthorization,
  approvedCode,
  aRegisteredClient,
  CALLBACK,
  connect,
} from '../../support/control/assistants.ts'
import { inDays } from '../../support/control/mandates.ts'
import { type Owner, startTestService } from '../../support/harness.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { signedInTo } from '../../support/identity/console.ts'

export const service = await startTestService({ own: true })

export interface Visitor {
  readonly owner: Owner<typeof areas>
  read(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; headers: Headers }>
}

/** A person of this account, or of a new one. */
export async function aVisitor(role: PersonRole = 'owner', account?: Owner<typeof areas>): Promise<Visitor> {
  const owner = account ?? (await service.owner())
  const { headers: session } = await signedInTo(service, owner, { role })
  return {
    owner,
    async read(path, headers = { accept: 'text/html' }) {
      const answer = await fetch(`${service.url}/${path}`, {
        headers: { ...session, ...headers },
        redirect: 'manual',
      })
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    },
  }
}

/** Without a budget, so that a person decides about each payment. */
export async function connectAssistant(
  owner: Owner<typeof areas>,
  agentId: string,
  name: string,
): Promise<string> {
  const { url } = service
  const { headers } = await signedInTo(service, owner)
  const client_id = await aRegisteredClient(url, { client_name: name, redirect_uris: [CALLBACK] })
  const choices = { agentId, expiresAt: inDays(30) }
  const code = await approvedCode({ url, headers }, choices, await anAuthorization(url, { client_id }))
  const { access_token } = await connect(url, code)
  const { call } = await anAssistant(url, access_token)
  await call('declare_intent', { amountEuros: 12, merchant: 'Bookshop', purpose: 'A paper' })
  return code.id
}
