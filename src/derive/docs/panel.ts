import { type Html, type HtmlContent, html } from '../../web/html.ts'

export type SampleLanguage = 'json' | 'shell' | 'typescript' | 'python'

const grammars: Readonly<Record<SampleLanguage, RegExp>> = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\b\d[\d.]*\b)|(?<word>\b(?:true|false|null)\b)/g,
  shell:
    /(?<comment>(?<=^|\s)#.*$)|(?<key>\$\w+)|(?<string>'[^']*')|(?<word>\b(?:agentpay|curl|export|echo|grep|head)\b)|(?<number>(?<=\s)-\w+)/gm,
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

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python', cli: 'CLI' } as const

export type CodeSamples = Partial<Readonly<Record<keyof typeof LANGUAGES, string>>>

type Language = keyof typeof LANGUAGES

const languageNames = Object.keys(LANGUAGES) as readonly Language[]

const GRAMMARS = { curl: 'shell', typescript: 'typescript', python: 'python', cli: 'shell' } as const

/** Without a script, the samples stand below each other. With one, the reader's language is shown. */
export function renderCodeSamples(calls: CodeSamples): Html {
  const languages = languageNames.filter(name => calls[name] !== undefined)
  const parts = languages.map(
    name =>
      html`<div data-language="${name}">${renderCodePanel(tabs(name, languages), calls[name] ?? '', GRAMMARS[name])}</div>`,
  )
  return html`<div class="samples" data-languages="${languages.join(' ')}">${parts}</div>`
}

const tabs = (
  own: Language,
  languages: readonly Language[],
): Html => html`<span class="alone">${LANGUAGES[own]}</span><span class="tabs">
  ${languages.map(name => html`<button type="button" data-choose="${name}">${LANGUAGES[name]}</button>`)}
</span>`
