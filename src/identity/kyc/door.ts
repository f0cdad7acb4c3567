import type { Actor } from '../../kernel/contract/actor.ts'
import type { Receive } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { clock } from '../../values/clock.ts'
import { tenantOfSubmission } from './find.ts'

const answer = (taken: boolean) => ({ status: 200, body: JSON.stringify({ taken }) })

/** Takes a notice of the provider: its signature first, then its submission, which tells whose it is. */
export const receive: Receive = async (request, tools) => {
  const provider = tools.ports.identityVerification()
  if (!provider.recognizes(request.headers))
    return { unsigned: 'The signature of the identity provider is missing.' }
  const read = provider.read(request.body, request.headers, clock.real())
  if (read.kind === 'unsigned') return { unsigned: read.reason }
  if (read.kind === 'unreadable') throw new Problem('invalid_request', read.reason)
  const tenant = await tenantOfSubmission(read.notice.reference, tools)
  if (!tenant) return { outcome: answer(false) }
  const actor: Actor = { type: 'signed', id: provider.name, tenant, agentId: null, scopes: new Set() }
  const { body } = await tools.run('kyc.noticed', actor, read.notice, request)
  return { outcome: answer(JSON.parse(String(body)).acted === true), actor }
}
