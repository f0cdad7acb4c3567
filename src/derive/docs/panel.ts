import { type Html, type HtmlContent, html } from '../../web/html.ts'

export type SampleLanguage = 'json' | 'shell' | 'typescript' | 'python'

const grammars: Readonly<Record<SampleLanguage, RegExp>> = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\b\d[\d.]*\b)|(?<word>\b(?:true|false|null)\b)/g,
  shell:
    /(?<comment>(?<=^|\s)#.*$)|(?<key>\$\w+)|(?<string>'[^']*')|(?<word>\b(?:curl|export|echo|grep|head)\b)|(?<number>(?<=\s)-\w+)/gm,
  typescript:
    /(?<comment>\/\/.*$)|(?<string>'(?:[^'\\]|\\.)*')|(?<key>\b\w+(?=:))|(?<number>\b\d[\d.]*\b)|(?<word>\b(?:const|await|for|of|import|from|true|false|null)\b)/gm,
  python:
    /(?<comment>#.*$)|(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>\b\d[\d.]*\b)|(?<word>\b(?:for|in|import|from|True|False|None)\b)/gm,
}

export function highlightCode(code: string, language: SampleLanguage): HtmlContent[] {
  const parts: HtmlContent[] = []
  let end = 0
  for (const match of code.matchAll(grammars[language])) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    parts.push(code.slice(end, match.index), html`<span class="c-${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return [...parts, code.slice(end)]
}

export const renderCodePanel = (caption: HtmlContent, code: string, language: SampleLanguage): Html =>
  html`<figure class="panel"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${highlightCode(code, language)}</code></pre></figure>`

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const

export type CodeSamples = Partial<Readonly<Record<keyof typeof LANGUAGES, string>>>

export function renderCodeSamples(calls: CodeSamples): Html {
  const languages = (['curl', 'typescript', 'python'] as const).flatMap(id =>
    calls[id] === undefined ? [] : [{ id, code: calls[id] }],
  )
  if (languages.length === 1) return html`${renderCodePanel('curl', calls.curl ?? '', 'shell')}`
  const parts = languages.map(
    ({ id, code }) =>
      html`<div data-language="${id}">${renderCodePanel(tabs(LANGUAGES[id]), code, id === 'curl' ? 'shell' : id)}</div>`,
  )
  return html`<div class="samples">${parts}</div>`
}

const tabs = (name: string): Html => html`<span class="alone">${name}</span><span class="tabs">
  ${Object.entries(LANGUAGES).map(([id, word]) => html`<button type="button" data-choose="${id}">${word}</button>`)}
</span>`
