import { agentTokensApi } from '../../../../control/agent-tokens/index.ts'
import { keysApi } from '../../../../identity/keys/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts } from '../../parts/table.ts'
import { status, text, time, usage } from '../../parts/text.ts'
import { history } from './shared.ts'

type Key = AnswerOf<typeof keysApi.get>

interface Ending {
  readonly revokedAt: string | null
  readonly expiresAt: string | null
}

const stateOf = ({ revokedAt, expiresAt }: Ending, now: Date): string => {
  if (revokedAt) return 'revoked'
  return expiresAt && new Date(expiresAt) <= now ? 'expired' : 'active'
}

export const keysPage = listPage({
  title: 'Keys',
  lead: 'What your programs call with. A secret is shown once, where the key is made.',
  operation: keysApi.list,
  filters: ['environment', 'madeById'],
  labels: { madeById: 'Made with the key' },
  events: ['key.*', 'session.*'],
  empty: {
    words: 'No key yet.',
    command: 'agentpay keys create --name "Build server" --environment sandbox',
  },
  above: request =>
    operationForm(request, keysApi.create, {
      members: ['name', 'environment', 'scopes', 'expiresAt', 'toolWrites'],
      labels: {
        scopes: 'Scopes (all of yours, if you tick none)',
        expiresAt: 'Until, by UTC',
        toolWrites: 'Assistants may change things with it, and not only read',
      },
      submit: 'New key',
      secrets: ['key'],
      fold: true,
    }),
  columns: {
    Key: ({ id, name }, request) => recordLink(request, id, text(name)),
    State: (key, { now }) => status(stateOf(key, now)),
    For: 'environment',
    'Ends with': ({ hint }) => html`<code>${hint}</code>`,
    'Last used': 'lastUsedAt',
    Until: 'expiresAt',
  },
})

export const keyPage = recordPage({
  kind: 'Key',
  operation: keysApi.get,
  events: ['key.*', 'session.*'],
  state: (key, { now }) => stateOf(key, now),
  body: async (key, request) => html`${stateOf(key, request.now) === 'active' && keyForms(key, request)}
${box(
  'Key',
  facts([
    ['For', key.environment],
    ['Ends with', html`<code>${key.hint}</code>`],
    ['Last used', time(key.lastUsedAt)],
    ['Until', time(key.expiresAt)],
    ['Ends without a use', key.idleDays === null ? 'never' : `after ${key.idleDays} days`],
    ['Made with', recordLink(request, key.madeById)],
    ['Agreed to by', recordLink(request, key.personId)],
    ['Device', recordLink(request, key.sessionId)],
    ['Needs a proof with each request', key.boundTo ? 'yes' : 'no'],
    ['Assistants may change things with it', key.toolWrites ? 'yes' : 'no'],
    ['Made', time(key.createdAt)],
    ['May', text(key.scopes.join(', '), 3_000)],
  ]),
)}
${await history(key.id, request)}`,
})

const keyForms = ({ id, name }: Key, request: PageRequest): Html => html`<div class="actions">
${operationForm(request, keysApi.rotate, { params: { id }, members: ['overlapMinutes'], labels: { overlapMinutes: 'Minutes in which both work' }, submit: 'Replace', secrets: ['key'], fold: true })}
${operationForm(request, keysApi.revoke, { params: { id }, submit: 'Revoke', tone: 'against', confirm: `Revoke ${name}? What calls with it stops at once.` })}
</div>`

export const tokensPage = listPage({
  title: 'Agents’ tokens',
  lead: 'What agents call with: each reaches the records of its agent, and no others.',
  operation: agentTokensApi.listAll,
  filters: ['agentId'],
  events: ['token.*'],
  names: ['agents'],
  empty: {
    words: 'No agent has a token yet.',
    command: 'agentpay agent-tokens create agent_… --label Laptop',
  },
  columns: {
    Token: ({ label, hint }) => html`${text(label)} <code>…${hint}</code>`,
    Agent: 'agentId',
    State: (token, { now }) => status(stateOf(token, now)),
    'Used of its budget': ({ maxAmountEuros, heldEuros, spentEuros }) =>
      usage((heldEuros ?? 0) + (spentEuros ?? 0), maxAmountEuros),
    'Last used': 'lastUsedAt',
    Until: 'expiresAt',
    Action: (token, request) =>
      stateOf(token, request.now) === 'active' &&
      operationForm(request, agentTokensApi.revoke, {
        params: { id: token.agentId, tokenId: token.id },
        submit: 'Revoke',
        tone: 'against',
        confirm: `Revoke the token ${token.label}? Its agent cannot call with it any more.`,
      }),
  },
  above: async request => {
    if (!request.may(agentTokensApi.create)) return ''
    return html`<p>A token is made on the page of its <a href="${request.to('console/agents')}">agent</a>.</p>`
  },
})
