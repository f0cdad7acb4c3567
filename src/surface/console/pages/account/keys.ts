import { agentTokensApi } from '../../../../control/agent-tokens/index.ts'
import { apiKeysApi } from '../../../../identity/keys/index.ts'
import { html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderStatus, renderUsage, sumEuros } from '../../parts/text.ts'

interface Ending {
  readonly revokedAt: string | null
  readonly expiresAt: string | null
}

const stateOf = ({ revokedAt, expiresAt }: Ending, { now }: PageRequest): string => {
  if (revokedAt) return 'revoked'
  return expiresAt && new Date(expiresAt) <= now ? 'expired' : 'active'
}

const isActive = (one: Ending, request: PageRequest): boolean => stateOf(one, request) === 'active'

export const apiKeysSection = consoleSection({
  kind: 'Key',
  lead: 'API keys of your programs. A secret is shown once, when you create the key.',
  list: apiKeysApi.list,
  get: apiKeysApi.get,
  state: stateOf,
  columns: [
    { Status: (key, request) => renderStatus(stateOf(key, request)) },
    'environment',
    'hint',
    'madeByPersonId',
    'lastUsedAt',
    'expiresAt',
  ],
  labels: {
    hint: 'Ends with',
    madeById: 'Created with',
    madeByPersonId: 'Created by',
    personId: 'Approved by',
    sessionId: 'Device',
    idleDays: 'Expires unused after (days)',
    boundTo: 'Bound to a device (DPoP)',
    toolWrites: 'Assistants can make changes',
  },
  shows: {
    hint: ({ hint }) => html`<code>${hint}</code>`,
    boundTo: ({ boundTo }) => (boundTo ? 'yes' : 'no'),
  },
  events: ['key.*', 'session.*'],
  create: {
    operation: apiKeysApi.create,
    members: ['name', 'environment', 'scopes', 'expiresAt', 'toolWrites'],
    labels: {
      scopes: 'Scopes (none selected: all of yours)',
      expiresAt: 'Expires',
      toolWrites: 'Let assistants make changes with this key, not only read',
    },
    done: 'reload',
  },
  actions: [
    {
      operation: apiKeysApi.rotate,
      when: isActive,
      members: ['overlapMinutes'],
      labels: { overlapMinutes: 'Keep the old key for (minutes)' },
      submit: 'Rotate',
    },
    {
      operation: apiKeysApi.revoke,
      when: isActive,
      submit: 'Revoke',
      tone: 'against',
      forRecord: ({ name }) => ({ confirm: `Revoke ${name}? Programs that use it stop working at once.` }),
    },
  ],
})

export const agentTokensSection = consoleSection({
  kind: 'Token',
  title: 'Agent tokens',
  lead: 'API tokens of agents. Each one only reaches the records of its agent.',
  list: agentTokensApi.listAll,
  name: ({ label }) => label,
  columns: [
    { 'Ends with': ({ hint }) => html`<code>…${hint}</code>` },
    'agentId',
    { Status: (token, request) => renderStatus(stateOf(token, request)) },
    {
      'Budget used': ({ maxAmountEuros, heldEuros, spentEuros }) =>
        maxAmountEuros === null
          ? html`<span class="none">no limit</span>`
          : renderUsage(sumEuros([heldEuros ?? 0, spentEuros ?? 0]), maxAmountEuros),
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
        confirm: `Revoke the token ${label}? The agent can no longer use it.`,
      }),
    },
  ],
  above: ({ may, to }) =>
    may(agentTokensApi.create) &&
    html`<p>Create tokens on the page of their <a href="${to('console/agents')}">agent</a>.</p>`,
})
