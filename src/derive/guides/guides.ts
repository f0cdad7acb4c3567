import { readdirSync, readFileSync } from 'node:fs'
import { basename, posix } from 'node:path'
import type { MarkedToken } from 'marked'
import { type StaticAsset, staticAsset } from '../docs/assets.ts'
import { headingSlug, type MarkdownAddresses, parseMarkdownBlocks } from '../docs/markdown.ts'
import { DOCS_PARTS, type DocsPart, docsPartNames } from '../docs/parts.ts'

export interface GuideFile {
  /**
   * `webhooks` for docs/how-to/webhooks.md. It is also its URL, so a page that moves to another folder keeps
   * its URL.
   */
  readonly name: string
  readonly path: string
  readonly title: string
  /** What the index says of the page. */
  readonly about: string
  readonly markdown: string
}

export interface GuideGroup {
  readonly part: DocsPart
  readonly title: string
  readonly files: readonly GuideFile[]
}

export interface Guides {
  readonly groups: readonly GuideGroup[]
  readonly files: readonly GuideFile[]
  readonly pictures: ReadonlyMap<string, StaticAsset>
}

const FOLDER = new URL('../../../docs/', import.meta.url)
const INDEX = 'README.md'
const UNSERVED = /^(contributing|decisions)\//

export function readGuides(): Guides {
  const paths = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).toSorted()
  const isGuide = (path: string): boolean => path.endsWith('.md') && path !== INDEX && !UNSERVED.test(path)
  const files = new Map(paths.filter(isGuide).map(path => [path, readGuide(path)]))
  const groups = groupsIn(readFileSync(new URL(INDEX, FOLDER), 'utf8'), files)
  const pictures = paths
    .filter(path => path.endsWith('.png'))
    .map(path => [basename(path), pictureOf(path)] as const)
  return { groups, files: groups.flatMap(group => group.files), pictures: new Map(pictures) }
}

const pictureOf = (path: string): StaticAsset =>
  staticAsset(basename(path), 'image/png', readFileSync(new URL(path, FOLDER)) as Buffer)

function readGuide(path: string): GuideFile {
  const markdown = readFileSync(new URL(path, FOLDER), 'utf8')
  const blocks = parseMarkdownBlocks(markdown)
  const title = blocks.find(block => block.type === 'heading')?.text ?? path
  return { name: basename(path, '.md'), path, title, about: '', markdown }
}

const ROW = /^\| \[[^\]]+\]\(([\w/-]+\.md)\) \| (.+) \|$/gm

/** The index has a heading for each part, and below it one for each group of pages. */
const groupsIn = (index: string, files: ReadonlyMap<string, GuideFile>): GuideGroup[] =>
  index
    .split(/^## /m)
    .slice(1)
    .flatMap(text => {
      const part = docsPartNames.find(name => DOCS_PARTS[name].title === titleOf(text))
      return part === undefined
        ? []
        : text
            .split(/^### /m)
            .slice(1)
            .map(group => groupOf(part, group, files))
    })

const titleOf = (text: string): string => text.slice(0, text.indexOf('\n')).trim()

const groupOf = (part: DocsPart, text: string, files: ReadonlyMap<string, GuideFile>): GuideGroup => ({
  part,
  title: titleOf(text),
  files: [...text.matchAll(ROW)].flatMap(([, path = '', about = '']) => {
    const file = files.get(path)
    return file ? [{ ...file, about: stripMarkdown(about) }] : []
  }),
})

export const stripMarkdown = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()

export const guideAddress = (name: string): string => `/docs/${DOCS_PARTS.guides.section}/${name}`

/** Guides link to other guides and to other hosts. Other files of the checkout are not served. */
export const guideLinkAddresses = (
  { files, pictures }: Guides,
  { path: from }: GuideFile,
): MarkdownAddresses => ({
  link(target) {
    if (/^(https?:|#|\/)/.test(target)) return target
    const [, file = '', anchor = ''] = /^([^#]+)(#.*)?$/.exec(target) ?? []
    const path = posix.join('docs', posix.dirname(from), file)
    if (path === 'README.md') return '/docs#quickstart'
    if (path === `docs/${INDEX}`) return `/docs/${DOCS_PARTS.guides.section}`
    const guide = files.find(one => `docs/${one.path}` === path)
    return guide && guideAddress(guide.name) + anchor
  },
  picture: target => pictures.get(basename(target))?.address,
})

export interface GuideSection {
  readonly anchor: string
  readonly title: string
  readonly blocks: readonly MarkedToken[]
}

export function guideSections({ title, markdown }: GuideFile): GuideSection[] {
  const sections: { anchor: string; title: string; blocks: MarkedToken[] }[] = [
    { anchor: '', title, blocks: [] },
  ]
  for (const block of parseMarkdownBlocks(markdown)) {
    if (block.type === 'heading' && block.depth === 2)
      sections.push({ anchor: headingSlug(block.text), title: stripMarkdown(block.text), blocks: [] })
    else if (block.type !== 'heading' || block.depth > 1) sections.at(-1)?.blocks.push(block)
  }
  return sections
}
