import { agentsApi } from '../../../../control/agents/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { policiesApi } from '../../../../control/policies/index.ts'
import { apiKeysApi } from '../../../../identity/keys/index.ts'
import { fundingsApi } from '../../../../money/fundings/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderBox } from '../../parts/table.ts'
import { renderText } from '../../parts/text.ts'
import { readMonthAndLine, readWallets } from './home-money.ts'

type Agent = ListItemOf<typeof agentsApi.list>

interface Step {
  readonly name: string
  readonly text: string
  readonly isDone: boolean
  readonly page: string
  /** The form that does the step here. */
  readonly form?: () => Promise<HtmlContent> | HtmlContent
}

const REFRESH = 'part:first-steps,available,waiting'

/** The way to the first payment. An account with payments in the last thirty days has none. */
export async function renderFirstSteps(request: PageRequest): Promise<Html> {
  if (!request.may(agentsApi.create)) return html``
  const spend = await readMonthAndLine(request)
  if (!spend?.isEmpty) return html``
  const steps = await readSteps(request)
  const next = steps.find(({ isDone }) => !isDone)
  if (!next) return html``
  const done = steps.filter(({ isDone }) => isDone).length
  const lines = await Promise.all(steps.map(step => stepLine(step, step === next, request)))
  return renderBox(
    'Your first payment',
    html`<p class="times">${done} of ${steps.length} steps done.</p>
<ol class="first-steps">${lines}</ol>`,
  )
}

async function stepLine(
  { name, text, isDone, page, form }: Step,
  isNext: boolean,
  { to }: PageRequest,
): Promise<Html> {
  return html`<li data-key="${name}"${isDone && html` class="done"`}${isNext && html` aria-current="step"`}><div><strong>${isDone ? name : html`<a href="${to(page)}">${name}</a>`}</strong>${isDone && html` <span class="status good">done</span>`}
${!isDone && html`<p class="times">${text}</p>`}</div>
${isNext && (await form?.())}</li>`
}

async function readSteps(request: PageRequest): Promise<Step[]> {
  const { ask } = request
  const [agents, keys, intents, wallets] = await Promise.all([
    ask(agentsApi.list, { query: { limit: 10 } }),
    ask(apiKeysApi.list, { query: { limit: 1 } }),
    ask(intentsApi.list, { query: { limit: 20 } }),
    readWallets(request),
  ])
  const agent = agents.data.find(({ policyId }) => policyId !== null) ?? agents.data[0]
  const page = agent ? `console/agents/${agent.id}` : 'console/agents'
  const isFunded = wallets.data.some(
    ({ kind, availableEuros, heldEuros }) => kind === 'agent' && availableEuros + heldEuros > 0,
  )
  const waiting = intents.data.find(({ status }) => status === 'created')
  return [
    agentStep(agent, request),
    limitsStep(agent, page, request),
    fundStep(agent, isFunded, page, request),
    {
      name: 'Create an API key',
      text: 'Your program calls the API with it. The key is shown once.',
      isDone: keys.data.length > 0,
      page: 'console/keys',
    },
    intentStep(agent, intents.data.length > 0, request),
    {
      name: 'Approve it',
      text: 'A payment above the auto-approve limit waits for you, and so does what you declare here. Your passkey signs amount and payee.',
      isDone: intents.data.some(({ status }) => status === 'approved' || status === 'completed'),
      page: waiting ? `console/intents/${waiting.id}` : 'console/inbox',
    },
  ]
}

const agentStep = (agent: Agent | undefined, request: PageRequest): Step => ({
  name: 'Create an agent',
  text: 'An agent is a program that pays for you, with a wallet of its own.',
  isDone: agent !== undefined,
  page: 'console/agents',
  form: () =>
    renderOperationForm(request, agentsApi.create, {
      members: ['name'],
      values: { name: 'Research assistant' },
      submit: 'Create agent',
      tone: 'main',
      done: REFRESH,
      success: 'Created.',
    }),
})

const limitsStep = (agent: Agent | undefined, page: string, request: PageRequest): Step => ({
  name: 'Set its limits',
  text: 'A policy says what the agent may pay on its own. Without one, every payment needs your approval.',
  isDone: typeof agent?.policyId === 'string',
  page,
  ...(agent && {
    async form() {
      const { data } = await request.ask(policiesApi.presets, { query: { limit: 20 } })
      return renderOperationForm(request, policiesApi.assign, {
        params: { agentId: agent.id },
        members: ['policyId'],
        choices: { policyId: data.map(({ id, name }) => [id, name] as const) },
        values: { policyId: data.find(({ id }) => id === 'standard')?.id },
        labels: { policyId: 'Preset' },
        submit: 'Use these limits',
        tone: 'main',
        done: REFRESH,
        success: 'Set.',
      })
    },
  }),
})

const TEST_EUROS = 100

const fundStep = (agent: Agent | undefined, isDone: boolean, page: string, request: PageRequest): Step => ({
  name: 'Fund its wallet',
  text: 'An agent spends only what is in its wallet.',
  isDone,
  page: request.tenant.mode === 'test' ? page : 'console/billing',
  ...(agent &&
    request.tenant.mode === 'test' && {
      form: () =>
        renderOperationForm(request, fundingsApi.wallet, {
          params: { id: agent.walletId },
          given: { amountEuros: TEST_EUROS },
          submit: `Add € ${TEST_EUROS} of test money`,
          tone: 'main',
          done: REFRESH,
          success: 'Added.',
        }),
    }),
})

const intentStep = (agent: Agent | undefined, isDone: boolean, request: PageRequest): Step => ({
  name: 'Declare the first intent',
  text: 'An agent declares each payment before it pays: agentpay intents create, POST /intents, or this form.',
  isDone,
  page: 'console/intents',
  ...(agent && {
    form: () =>
      html`<p class="times">For ${renderText(agent.name, 60)}</p>${renderOperationForm(
        request,
        intentsApi.create,
        {
          given: { agentId: agent.id },
          members: ['merchant', 'amountEuros', 'purpose'],
          values: { merchant: 'Bookshop', amountEuros: 25, purpose: 'A paper on caching' },
          submit: 'Declare intent',
          tone: 'main',
          done: REFRESH,
          success: 'Declared.',
        },
      )}`,
  }),
})
