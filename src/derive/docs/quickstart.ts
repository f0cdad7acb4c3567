import { type Html, html } from '../../web/html.ts'
import { inline } from './markdown.ts'
import { panel } from './panel.ts'
import { stepsFor } from './quickstart-steps.ts'

const inTypescript = (url: string): string => `import { areas } from '../../areas.ts'
import { client as connect } from '../client.ts'

const client = connect(areas, { url: '${url}', token: process.env.KEY })

const { body: agent } = await client.agents.create({
  body: { name: 'Research assistant' },
})`

export const quickstartSection = (url: string): Html => html`
<section class="guide quickstart" id="quickstart" aria-labelledby="quickstart-title">
  <h2 id="quickstart-title"><a href="#quickstart">Pay something in three minutes</a></h2>
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
