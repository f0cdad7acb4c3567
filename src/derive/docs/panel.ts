import { type Content, type Html, html } from '../../web/html.ts'
import { highlight, type Language } from './highlight.ts'

/** A piece of code with a caption; the script gives each its copy button. */
export const panel = (caption: Content, code: string, language: Language): Html =>
  html`<figure class="panel"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${highlight(code, language)}</code></pre></figure>`

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const

export type Samples = Partial<Readonly<Record<keyof typeof LANGUAGES, string>>>

/** The same request in each language that has it: one under the other, until the script makes tabs of them. */
export function samples(calls: Samples): Html {
  const languages = (['curl', 'typescript', 'python'] as const).flatMap(id =>
    calls[id] === undefined ? [] : [{ id, code: calls[id] }],
  )
  if (languages.length === 1) return html`${panel('curl', calls.curl ?? '', 'shell')}`
  const parts = languages.map(
    ({ id, code }) =>
      html`<div data-language="${id}">${panel(tabs(LANGUAGES[id]), code, id === 'curl' ? 'shell' : id)}</div>`,
  )
  return html`<div class="samples">${parts}</div>`
}

const tabs = (name: string): Html => html`<span class="alone">${name}</span><span class="tabs">
  ${Object.entries(LANGUAGES).map(([id, word]) => html`<button type="button" data-choose="${id}">${word}</button>`)}
</span>`
