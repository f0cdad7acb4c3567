import { assistantsApi, resourceOf } from '../../../../control/oauth/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { OperationAnswer } from '../../page.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { noneText, renderEuros, renderText } from '../../parts/text.ts'
import { intentsSection } from '../decide/intents.ts'
import { renderMandateLeft } from './mandates.ts'

type Assistant = OperationAnswer<typeof assistantsApi.get>

const renderHost = ({ clientHost }: Assistant): Html =>
  clientHost === null
    ? html`<span class="status waiting">Not verified</span>`
    : html`<span class="status">${renderText(clientHost, 60)}</span>`

const renderLeft = ({ mandate }: Assistant): Html => (mandate ? renderMandateLeft(mandate) : noneText)

const renderPerPayment = ({ mandate }: Assistant): Html =>
  mandate ? renderEuros(mandate.constraints.perTransactionEuros) : html`with approval only`

/** An assistant that reads has no scope to declare a payment. */
const renderTools = ({ scopes }: Assistant): Html =>
  html`${scopes.includes('intents:write') ? 'Read, declare payments and pay' : 'Read only'}`

export const assistantsSection = consoleSection({
  kind: 'Assistant',
  title: 'Connected assistants',
  noun: 'connected-assistants',
  lead: 'Assistants that an owner has connected, with what each may pay by itself and what it bought.',
  above: ({ service }) => html`<p>Address to enter: ${copyableText(resourceOf(service))}</p>`,
  list: assistantsApi.list,
  get: assistantsApi.get,
  name: ({ clientName }) => clientName,
  columns: [
    { Host: renderHost },
    'agentId',
    'status',
    { Left: { figure: renderLeft } },
    'spentEuros',
    'lastUsedAt',
    'expiresAt',
  ],
  labels: { spentEuros: 'Bought', heldEuros: 'Held', personId: 'Connected by', redirectUri: 'Answers go to' },
  states: { approved: 'Connecting', ended: 'Disconnected' },
  shows: {
    Host: renderHost,
    Tools: renderTools,
    'Per payment': renderPerPayment,
    Left: renderLeft,
    Mandate: ({ mandate }, request) =>
      renderRecordLink(request, mandate?.id, mandate?.name ? renderText(mandate.name, 60) : undefined),
  },
  hidden: ['clientName', 'clientHost', 'scopes', 'mandate', 'tokenId'],
  events: ['assistant.*', 'mandate.*', 'intent.*'],
  empty: 'No assistants yet. Give Claude, ChatGPT or another assistant the address of this installation.',
  call: 'agentpay connected-assistants list',
  guide: 'assistants',
  actions: [
    {
      operation: assistantsApi.disconnect,
      when: ({ status }) => status !== 'ended',
      submit: 'Disconnect',
      tone: 'against',
      inRow: true,
      forRecord: ({ clientName }) => ({
        confirm: `Disconnect ${clientName}? Its tokens stop working, its mandate is revoked, and its open intents are cancelled.`,
      }),
    },
  ],
  below: async ({ tokenId }, request) =>
    tokenId !== null &&
    intentsSection.related(
      { title: 'What it bought', query: { tokenId }, limit: 20, empty: 'Nothing yet.', section: 'intents' },
      request,
    ),
})
