import { agentTokensApi } from '../../../../control/agent-tokens/index.ts'
import { keysApi } from '../../../../identity/keys/index.ts'
import { html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { status, usage } from '../../parts/text.ts'

interface Ending {
  readonly revokedAt: string | null
  readonly expiresAt: string | null
}

const stateOf = ({ revokedAt, expiresAt }: Ending, { now }: PageRequest): string => {
  if (revokedAt) return 'revoked'
  return expiresAt && new Date(expiresAt) <= now ? 'expired' : 'active'
}

const isActive = (one: Ending, request: PageRequest): boolean => stateOf(one, request) === 'active'

export const keys = section({
  kind: 'Key',
  lead: 'What your programs call with. A secret is shown once, where the key is made.',
  list: keysApi.list,
  get: keysApi.get,
  state: stateOf,
  columns: [
    { Status: (key, request) => status(stateOf(key, request)) },
    'environment',
    'hint',
    'lastUsedAt',
    'expiresAt',
  ],
  labels: {
    hint: 'Ends with',
    madeById: 'Made with',
    personId: 'Agreed to by',
    sessionId: 'Device',
    idleDays: 'Ends without a use after, in days',
    boundTo: 'Needs a proof with each request',
    toolWrites: 'Assistants may change things with it',
  },
  shows: {
    hint: ({ hint }) => html`<code>${hint}</code>`,
    boundTo: ({ boundTo }) => (boundTo ? 'yes' : 'no'),
  },
  events: ['key.*', 'session.*'],
  create: {
    operation: keysApi.create,
    members: ['name', 'environment', 'scopes', 'expiresAt', 'toolWrites'],
    labels: {
      scopes: 'Scopes (all of yours, if you tick none)',
      expiresAt: 'Until, by UTC',
      toolWrites: 'Assistants may change things with it, and not only read',
    },
    done: 'reload',
  },
  actions: [
    {
      operation: keysApi.rotate,
      when: isActive,
      members: ['overlapMinutes'],
      labels: { overlapMinutes: 'Minutes in which both work' },
      submit: 'Replace',
    },
    {
      operation: keysApi.revoke,
      when: isActive,
      submit: 'Revoke',
      tone: 'against',
      forRecord: ({ name }) => ({ confirm: `Revoke ${name}? What calls with it stops at once.` }),
    },
  ],
})

export const tokens = section({
  kind: 'Token',
  title: 'Agent tokens',
  lead: 'What agents call with: each reaches the records of its agent, and no others.',
  list: agentTokensApi.listAll,
  name: ({ label }) => label,
  columns: [
    { 'Ends with': ({ hint }) => html`<code>…${hint}</code>` },
    'agentId',
    { Status: (token, request) => status(stateOf(token, request)) },
    {
      'Used of its budget': ({ maxAmountEuros, heldEuros, spentEuros }) =>
        usage((heldEuros ?? 0) + (spentEuros ?? 0), maxAmountEuros),
    },
    'lastUsedAt',
    'expiresAt',
  ],
  events: ['token.*'],
  empty: 'No tokens yet.',
  call: 'agentpay agent-tokens create agent_… --label Laptop',
  actions: [
    {
      operation: agentTokensApi.revoke,
      when: isActive,
      params: ({ agentId, id }) => ({ id: agentId, tokenId: id }),
      submit: 'Revoke',
      tone: 'against',
      forRecord: ({ label }) => ({
        confirm: `Revoke the token ${label}? Its agent cannot call with it any more.`,
      }),
    },
  ],
  above: ({ may, to }) =>
    may(agentTokensApi.create) &&
    html`<p>A token is made on the page of its <a href="${to('console/agents')}">agent</a>.</p>`,
})
