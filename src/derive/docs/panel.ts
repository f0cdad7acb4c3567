import { type Content, type Html, html } from '../../web/html.ts'
import { highlight, type Language } from './highlight.ts'

/** A piece of code with a caption; the script gives each its copy button. */
export const panel = (caption: Content, code: string, language: Language): Html =>
  html`<figure class="panel"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${highlight(code, language)}</code></pre></figure>`

/** The same request in both languages: one under the other, until the script makes tabs of them. */
export const samples = (curl: string, typescript: string): Html => html`<div class="samples">
  <div data-language="curl">${panel(tabs('curl'), curl, 'shell')}</div>
  <div data-language="typescript">${panel(tabs('TypeScript'), typescript, 'typescript')}</div>
</div>`

const tabs = (name: string): Html => html`<span class="alone">${name}</span><span class="tabs">
  <button type="button" data-choose="curl">curl</button><button type="button" data-choose="typescript">TypeScript</button>
</span>`
