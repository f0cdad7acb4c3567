import { type Content, html } from '../../web/html.ts'

export type Language = 'json' | 'shell' | 'typescript' | 'python'

/** The highlighted tokens of each language: each named group is a class of the style sheet. */
const grammars: Readonly<Record<Language, RegExp>> = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\b\d[\d.]*\b)|(?<word>\b(?:true|false|null)\b)/g,
  shell:
    /(?<comment>(?<=^|\s)#.*$)|(?<key>\$\w+)|(?<string>'[^']*')|(?<word>\b(?:curl|export|echo|grep|head)\b)|(?<number>(?<=\s)-\w+)/gm,
  typescript:
    /(?<comment>\/\/.*$)|(?<string>'(?:[^'\\]|\\.)*')|(?<key>\b\w+(?=:))|(?<number>\b\d[\d.]*\b)|(?<word>\b(?:const|await|for|of|import|from|true|false|null)\b)/gm,
  python:
    /(?<comment>#.*$)|(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>\b\d[\d.]*\b)|(?<word>\b(?:for|in|import|from|True|False|None)\b)/gm,
}

export function highlight(code: string, language: Language): Content[] {
  const parts: Content[] = []
  let end = 0
  for (const match of code.matchAll(grammars[language])) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    parts.push(code.slice(end, match.index), html`<span class="c-${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return [...parts, code.slice(end)]
}
