import { describe, expect, test } from '@jest/globals'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import {
  anAuthorization,
  anOauthProvider,
  approvedCode,
  CALLBACK,
  connect,
  consentTo,
  form,
  openConsent,
  post,
  readJson,
  resourceAt,
} from '../../support/control/assistants.ts'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { enrolled } from '../../support/identity/people.ts'
import {
  aConnection,
  anOwnerAtTheBrowser,
  listTools,
  type OwnerAtTheBrowser,
  service,
  signedChoices,
  url,
  withoutBudget,
} from './people.ts'

const refresh = (tokens: { refresh_token: string }, client_id: string) =>
  form(url, '/oauth/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id })

describe('an assistant with nothing but the address', () => {
  test('finds the server from the 401 of /mcp', async () => {
    const { status, challenge } = await listTools('at_mcp_unknown0')
    const metadataUrl = /resource_metadata="([^"]+)"/.exec(String(challenge))?.[1]
    const resource = await readJson(String(metadataUrl))
    const [issuer] = resource.authorization_servers
    const { pathname, origin } = new URL(issuer)
    const server = await readJson(`${origin}/.well-known/oauth-authorization-server${pathname}`)
    expect([status, resource.resource, server.issuer]).toEqual([401, await resourceAt(url), issuer])
    expect(server).toMatchObject({
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
  })

  test('signs in by itself with the official client, and spends within the mandate', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { provider, asked } = anOauthProvider(CALLBACK)
    const address = new URL(await resourceAt(url))
    const transport = new StreamableHTTPClientTransport(address, { authProvider: provider })
    const refused = await aClient()
      .connect(transport)
      .catch(error => error)
    expect(refused).toBeInstanceOf(UnauthorizedError)
    const query = Object.fromEntries(asked[0]?.searchParams ?? [])
    const authorization = { query, verifier: String(provider.codeVerifier()) }
    const { redirectTo } = await approvedCode(owner.person, signedChoices(owner), authorization)
    await transport.finishAuth(redirectTo.searchParams)
    const client = aClient()
    await client.connect(new StreamableHTTPClientTransport(address, { authProvider: provider }))
    const declare = async (amountEuros: number) =>
      (await client.callTool({
        name: 'declare_intent',
        arguments: { amountEuros, merchant: `Shop ${amountEuros}`, purpose: 'A book' },
      })) as { structuredContent?: { status?: string } }
    expect((await declare(20)).structuredContent).toMatchObject({ status: 'approved' })
    expect((await declare(30)).structuredContent).toMatchObject({ status: 'created' })
    await client.close()
  })
})

const aClient = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } })

describe('the tokens of an assistant', () => {
  test('act as the agent at /mcp, and nowhere else', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { tokens } = await aConnection(owner)
    const { tools } = await anAssistant(url, tokens.access_token)
    expect((await tools()).map(({ name }) => name)).toContain('declare_intent')
    const direct = await service.http('GET', '/wallets', { token: tokens.access_token })
    expect([direct.status, direct.headers.get('x-error-code')]).toEqual([403, 'wrong_caller'])
  })

  test('are stored as digests, and are in no event', async () => {
    const { tokens, redirectTo } = await aConnection(await anOwnerAtTheBrowser())
    const secrets = [tokens.access_token, tokens.refresh_token, redirectTo.searchParams.get('code')]
    const rows = await service.sql(
      `select (select string_agg(g::text, '') from oauth_grants g) || (select string_agg(s::text, '') from agent_tokens s)
        || (select string_agg(e::text, '') from events e where e.event like any(array['assistant.%', 'token.%'])) as all`,
    )
    for (const secret of secrets) expect(String(rows[0]?.all)).not.toContain(secret)
  })

  test('are renewed: the old ones stop working', async () => {
    const { tokens, request } = await aConnection(await anOwnerAtTheBrowser())
    const renewed = await refresh(tokens, request.client_id)
    expect([renewed.status, (await listTools(renewed.body.access_token)).status]).toEqual([200, 200])
    await new Promise(resolve => setTimeout(resolve, 150))
    expect((await listTools(tokens.access_token)).status).toBe(401)
  })

  test('end with the whole grant, and its mandate, where a refresh token is used twice', async () => {
    const owner = await anOwnerAtTheBrowser()
    const code = await approvedCode(owner.person, signedChoices(owner))
    const tokens = await connect(url, code)
    const { client_id } = code.request
    const renewed = await refresh(tokens, client_id)
    expect((await refresh(tokens, client_id)).body).toEqual({ error: 'invalid_grant' })
    expect((await refresh(renewed.body, client_id)).body).toEqual({ error: 'invalid_grant' })
    await new Promise(resolve => setTimeout(resolve, 150))
    expect((await listTools(renewed.body.access_token)).status).toBe(401)
    const { data } = await bodyOf(owner.client.mandates.list({ query: { agentId: owner.agentId } }))
    expect(data.map(({ status }) => status)).toEqual(['revoked'])
  })

  test.each(['access_token', 'refresh_token'] as const)('end by revoking the %s', async name => {
    const { tokens, request } = await aConnection(await anOwnerAtTheBrowser())
    const { client_id } = request
    const other = await form(url, '/oauth/revoke', { token: tokens[name], client_id: 'client_of_somebody' })
    expect([other.status, (await listTools(tokens.access_token)).status]).toEqual([200, 200])
    expect(await form(url, '/oauth/revoke', { token: tokens[name], client_id })).toEqual({
      status: 200,
      body: {},
    })
    await new Promise(resolve => setTimeout(resolve, 150))
    expect((await listTools(tokens.access_token)).status).toBe(401)
    expect((await refresh(tokens, client_id)).body).toEqual({ error: 'invalid_grant' })
  })

  test('end when the owner revokes the agent token, and are not renewed', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { tokens, request } = await aConnection(owner)
    const { data } = await bodyOf(owner.client.agentTokens.list({ params: { id: owner.agentId } }))
    expect(data).toHaveLength(1)
    const params = { id: owner.agentId, tokenId: String(data[0]?.id) }
    await bodyOf(owner.client.agentTokens.revoke({ params }))
    expect((await refresh(tokens, request.client_id)).body).toEqual({ error: 'invalid_grant' })
  })

  test('end with the person who connected the assistant', async () => {
    const owner = await anOwnerAtTheBrowser()
    await enrolled(service, owner, { by: owner.signer })
    const { tokens, request } = await aConnection(owner)
    await bodyOf(owner.client.people.remove({ params: { id: owner.signer.personId } }))
    await new Promise(resolve => setTimeout(resolve, 150))
    expect((await listTools(tokens.access_token)).status).toBe(401)
    expect((await refresh(tokens, request.client_id)).body).toEqual({ error: 'invalid_grant' })
  })
})

describe('what an assistant pays by itself', () => {
  test('is within its own mandate, whatever else the agent may pay', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { id: agentId } = await anAgentUnder(owner.client, { autoApproveLimitEuros: 500 })
    const ofPolicy = { ...owner, agentId }
    const withMandate = await connect(url, await approvedCode(owner.person, signedChoices(ofPolicy)))
    const { tokens: without } = await aConnection(ofPolicy)
    const declare = async (token: string, amountEuros: number) => {
      const { call } = await anAssistant(url, token)
      const given = { amountEuros, merchant: `Shop ${amountEuros}`, purpose: 'A book' }
      return (await call('declare_intent', given)).structuredContent
    }
    expect(await declare(withMandate.access_token, 20)).toMatchObject({
      status: 'approved',
      decidedBy: { type: 'mandate' },
    })
    expect(await declare(withMandate.access_token, 26)).toMatchObject({ status: 'created' })
    expect(await declare(without.access_token, 21)).toMatchObject({ status: 'created' })
  })

  test('is for this assistant: the agent’s own token asks a person as before', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { id: agentId } = await anAgentUnder(owner.client, { autoApproveLimitEuros: 1 })
    await connect(url, await approvedCode(owner.person, signedChoices({ ...owner, agentId })))
    const body = { label: 'Own', scopes: ['payer' as const] }
    const own = await bodyOf(owner.client.agentTokens.create({ params: { id: agentId }, body }))
    const { call } = await anAssistant(url, String(own.token))
    const given = { amountEuros: 20, merchant: 'Shop', purpose: 'A book' }
    expect((await call('declare_intent', given)).structuredContent).toMatchObject({ status: 'created' })
  })
})

describe('the page of consent', () => {
  test('names who asks, and says that nothing proves a name that a client has chosen', async () => {
    const { person } = await anOwnerAtTheBrowser()
    const page = await openConsent(person, await anAuthorization(url))
    const text = await page.text()
    expect(page.status).toBe(200)
    expect(text).toContain('<bdi>Claude</bdi> asks for access')
    expect(text).toContain('nothing proves it')
    expect(text).toContain('assistant.example.com')
  })

  test('leads to the sign-in and back', async () => {
    const page = await openConsent({ url, headers: {} }, await anAuthorization(url))
    const to = new URL(String(page.headers.get('location')), `${url}/oauth/authorize`)
    expect([page.status, to.pathname]).toEqual([303, '/login'])
    expect(to.searchParams.get('to')).toMatch(/^oauth\/authorize\?response_type=code&/)
  })

  test('lets only an owner connect', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { headers } = await signedInTo(service, owner, { role: 'approver' })
    const text = await (await openConsent({ url, headers }, await anAuthorization(url))).text()
    expect(text).toContain('Only an owner of the account can connect an assistant')
    await expect(approvedCode({ url, headers }, withoutBudget(owner))).rejects.toThrow('Only an owner')
  })

  test('says how an assistant connects, if it is opened without a request', async () => {
    const { person } = await anOwnerAtTheBrowser()
    expect(await (await openConsent(person, { query: {} })).text()).toContain(await resourceAt(url))
  })
})

describe('a new agent for an assistant', () => {
  const agentsOf = async ({ client }: OwnerAtTheBrowser) => (await bodyOf(client.agents.list({}))).data

  test('is created with the signature, not with the sentence', async () => {
    const owner = await anOwnerAtTheBrowser()
    const sign = signedChoices({ ...owner, agentId: null })
    const { ticket } = await consentTo(owner.person, await anAuthorization(url))
    const choices = await sign(ticket)
    expect(await agentsOf(owner)).toHaveLength(1)
    const body = { ticket, scopes: ['payer'], ...choices }
    const changed = { ...body, constraints: { perMonthEuros: 99_999 } }
    expect((await post(url, '/oauth/approve', changed, owner.person.headers)).status).toBe(400)
    expect(await agentsOf(owner)).toHaveLength(1)
    const again = { ticket, scopes: ['payer'], ...(await sign(ticket)) }
    expect((await post(url, '/oauth/approve', again, owner.person.headers)).status).toBe(200)
    const [created] = await agentsOf(owner)
    expect(created).toMatchObject({ name: 'Claude', status: 'active' })
    const { data } = await bodyOf(owner.client.mandates.list({}))
    expect(data.map(({ agentId }) => agentId)).toEqual([created?.id])
    const { availableEuros } = await bodyOf(
      owner.client.agents.balance({ params: { id: String(created?.id) } }),
    )
    expect(availableEuros).toBe(0)
  })

  test('is created without a budget, too, and once', async () => {
    const owner = await anOwnerAtTheBrowser()
    const code = await approvedCode(owner.person, { ...withoutBudget(owner), agentId: null })
    const { tools } = await anAssistant(url, (await connect(url, code)).access_token)
    expect((await tools()).map(({ name }) => name)).toContain('declare_intent')
    expect((await agentsOf(owner)).map(({ name }) => name)).toEqual(['Claude', 'Research assistant'])
  })
})
