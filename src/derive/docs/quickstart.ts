import { type Html, html } from '../../web/html.ts'
import { inline } from './markdown.ts'
import { panel } from './panel.ts'

export interface Step {
  readonly title: string
  readonly text: string
  readonly command: string
}

const AS_OWNER = `-H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json'`

/** From a key to an agent that is stopped again, each command ready to be pasted after the one before. */
export const stepsFor = (url: string): Step[] => [
  {
    title: 'Have a key',
    text: 'A sandbox key sees test data only. `npm start` prints one, and `POST /keys` makes more.',
    command: `export URL=${url}\nexport KEY=sk_sandbox_…`,
  },
  {
    title: 'Write a policy',
    text: 'A template of rules. What it does not rule is not limited, and what is above `autoApproveLimitEuros` waits for a person.',
    command: `POLICY=$(curl -s "$URL/policies" \\
  ${AS_OWNER} \\
  -d '{
    "name": "Research budget",
    "maxTransactionEuros": 50,
    "dailyLimitEuros": 200,
    "autoApproveLimitEuros": 10
  }' | grep -o 'policy_[0-9a-z]*' | head -1)

echo "$POLICY"`,
  },
  {
    title: 'Make an agent',
    text: 'It gets a copy of the policy for itself: changing one agent never changes another.',
    command: `AGENT=$(curl -s "$URL/agents" \\
  ${AS_OWNER} \\
  -d '{
    "name": "Research assistant",
    "policyId": "'$POLICY'"
  }' | grep -o 'agent_[0-9a-z]*' | head -1)

echo "$AGENT"`,
  },
  {
    title: 'See what it spends under',
    text: 'The policy in effect, with every rule.',
    command: `curl -s "$URL/policies/agent/$AGENT" \\
  -H "Authorization: Bearer $KEY"`,
  },
  {
    title: 'Give it a token of its own',
    text: 'An agent token reaches that agent’s records and nothing else, within its scopes. The secret is shown this once.',
    command: `TOKEN=$(curl -s "$URL/agents/$AGENT/tokens" \\
  ${AS_OWNER} \\
  -d '{
    "label": "first",
    "scopes": ["agents:read", "policies:read"]
  }' | grep -o 'at_test_[0-9A-Za-z_-]*')

curl -s "$URL/agents/$AGENT" \\
  -H "Authorization: Bearer $TOKEN"`,
  },
  {
    title: 'Stop it',
    text: 'From this moment every spend is refused; reading still works. `/unfreeze` lets it go again.',
    command: `curl -s "$URL/agents/$AGENT/freeze" \\
  ${AS_OWNER} \\
  -d '{ "reason": "Unusual spending" }'`,
  },
]

const inTypescript = (url: string): string => `import { areas } from '../../areas.ts'
import { client as connect } from '../client.ts'

const client = connect(areas, { url: '${url}', token: process.env.KEY })

const { body: agent } = await client.agents.create({
  body: { name: 'Research assistant' },
})`

export const quickstartSection = (url: string): Html => html`
<section class="guide quickstart" id="quickstart" aria-labelledby="quickstart-title">
  <h2 id="quickstart-title"><a href="#quickstart">Quickstart</a></h2>
  <ol>${stepsFor(url).map(
    ({ title, text, command }) => html`<li>
    <div class="text"><h3>${title}</h3><p>${inline(text)}</p></div>
    <div class="code">${panel('Terminal', command, 'shell')}</div>
  </li>`,
  )}
  <li>
    <div class="text"><h3>Or in TypeScript</h3><p>The contracts are the client: every operation below, with its types.</p></div>
    <div class="code">${panel('TypeScript', inTypescript(url), 'typescript')}</div>
  </li></ol>
</section>`
