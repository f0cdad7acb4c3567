import { type Authorization, approvedCode, connect } from '../../support/control/assistants.ts'
import { inDays } from '../../support/control/mandates.ts'
import { aFundedAgent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { enrolled, signed } from '../../support/identity/people.ts'

export const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
export const { url } = service

type Rules = Parameters<typeof aPolicy>[1]

/** An owner with a passkey who is signed in, and an agent with money, by default without a policy. */
export async function anOwnerAtTheBrowser(rules?: Rules) {
  const owner = await service.owner()
  const signer = await enrolled(service, owner)
  const { headers, client } = await signedInTo(service, owner, { personId: signer.personId })
  const policyId = rules && (await aPolicy(owner.client, rules)).id
  const { id: agentId } = await aFundedAgent(owner.client, policyId === undefined ? {} : { policyId })
  return { ...owner, signer, agentId, person: { url, headers }, pages: client }
}

export type OwnerAtTheBrowser = Awaited<ReturnType<typeof anOwnerAtTheBrowser>>

const CONSTRAINTS = { perTransactionEuros: 25, perMonthEuros: 100 }

/** What the page sends: the mandate that the person has signed. */
export const signedChoices =
  ({
    agentId,
    signer,
    pages,
  }: Pick<OwnerAtTheBrowser, 'signer' | 'pages'> & { readonly agentId: string | null }) =>
  async (ticket: string) => {
    const mandate = { agentId, name: 'Claude', constraints: CONSTRAINTS, expiresAt: inDays(30) }
    const body = { ...mandate, ticket, scopes: ['payer' as const] }
    const challenge = await bodyOf(pages.oauth.challenge({ body }))
    return { ...mandate, webauthnAssertion: signed(challenge, signer.device) }
  }

export const withoutBudget = ({ agentId }: OwnerAtTheBrowser) => ({ agentId, expiresAt: inDays(30) })

export async function aCode(owner: OwnerAtTheBrowser, authorization?: Authorization) {
  return approvedCode(owner.person, withoutBudget(owner), authorization)
}

export async function aConnection(owner: OwnerAtTheBrowser) {
  const code = await aCode(owner)
  return { ...code, tokens: await connect(url, code) }
}

export const mcp = (token: string, method: string, params?: object): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }),
  })

export async function listTools(token: string) {
  const response = await mcp(token, 'tools/list')
  return { status: response.status, challenge: response.headers.get('www-authenticate') }
}
