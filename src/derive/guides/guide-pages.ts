import type { DocsBook, OperationEntry } from '../docs/book.ts'
import { bulletList, type DocsPage, operationList, paragraphs } from '../docs/pages.ts'
import { DOCS_PARTS, type DocsPart } from '../docs/parts.ts'
import { type GuideFile, type Guides, guideAddress, guideLinkAddresses } from './guides.ts'

const titleOf = ({ document: { info } }: DocsBook, name: string): string => `${name} · ${info.title}`

/** The index of a part, with its pages. */
export const partPage = (book: DocsBook, guides: Guides, name: 'guides' | 'operate'): DocsPage => {
  const { section, title, about } = DOCS_PARTS[name]
  return {
    part: name,
    section,
    title: titleOf(book, title),
    about,
    markdown: paragraphs(`# ${title}`, about, groupsText(guides, name)),
  }
}

export const groupsText = ({ groups }: Guides, name: DocsPart): string =>
  paragraphs(
    ...groups
      .filter(({ part }) => part === name)
      .flatMap(({ title, files }) => [
        `## ${title}`,
        bulletList(files.map(({ name, title, about }) => `[${title}](${guideAddress(name)}): ${about}`)),
      ]),
  )

export const guidePages = (book: DocsBook, guides: Guides): DocsPage[] => [
  partPage(book, guides, 'guides'),
  partPage(book, guides, 'operate'),
  ...guides.groups.flatMap(group => group.files.map(file => guidePage(book, guides, group.part, file))),
]

const guidePage = (book: DocsBook, guides: Guides, part: DocsPart, file: GuideFile): DocsPage => {
  const named = operationsNamedIn(book, file)
  return {
    part,
    section: `${DOCS_PARTS.guides.section}/${file.name}`,
    title: titleOf(book, file.title),
    about: file.about,
    addresses: guideLinkAddresses(guides, file),
    markdown: paragraphs(
      file.markdown.trim(),
      named.length > 0 && '## The operations named here',
      operationList(book, named),
    ),
  }
}

function operationsNamedIn(book: DocsBook, { markdown }: GuideFile): OperationEntry[] {
  const named = [...markdown.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]+)/g)].map(
    ([, method, path = '']) => `${method} ${shapeOf(path)}`,
  )
  const entries = new Map(book.entries.map(entry => [`${entry.method} ${shapeOf(entry.path)}`, entry]))
  return [...new Set(named)].map(name => entries.get(name)).filter(entry => entry !== undefined)
}

export function guidesByOperation(book: DocsBook, { files }: Guides): Map<OperationEntry, GuideFile[]> {
  const found = new Map<OperationEntry, GuideFile[]>()
  for (const file of files)
    for (const entry of operationsNamedIn(book, file)) found.set(entry, [...(found.get(entry) ?? []), file])
  return found
}

const shapeOf = (path: string): string => path.replace(/^\/v1(?=\/)/, '').replace(/\{\w+\}/g, '{}')
