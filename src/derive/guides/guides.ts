import { readdirSync, readFileSync } from 'node:fs'
import type { MarkedToken } from 'marked'
import { type Asset, asset } from '../docs/assets.ts'
import { type Addresses, blocksOf, slugOf } from '../docs/markdown.ts'

/** A file of docs/: a page under /docs/guides. */
export interface GuideFile {
  /** `webhooks` for docs/webhooks.md, and in its URL. */
  readonly name: string
  readonly title: string
  readonly about: string
  readonly markdown: string
}

export interface Guides {
  readonly files: readonly GuideFile[]
  readonly pictures: ReadonlyMap<string, Asset>
}

const FOLDER = new URL('../../../docs/', import.meta.url)

export function readGuides(): Guides {
  const names = readdirSync(FOLDER).toSorted()
  const files = names.filter(name => name.endsWith('.md')).map(readGuide)
  const pictures = names
    .filter(name => name.endsWith('.png'))
    .map(name => [name, asset(name, 'image/png', readFileSync(new URL(name, FOLDER)) as Buffer)] as const)
  return {
    files: files.toSorted((one, other) => one.title.localeCompare(other.title, 'en')),
    pictures: new Map(pictures),
  }
}

function readGuide(file: string): GuideFile {
  const markdown = readFileSync(new URL(file, FOLDER), 'utf8')
  const blocks = blocksOf(markdown)
  const title = blocks.find(block => block.type === 'heading')?.text ?? file
  const about = blocks.find(block => block.type === 'paragraph')?.text ?? ''
  return { name: file.slice(0, -'.md'.length), title, about: plain(about), markdown }
}

export const plain = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()

export const GUIDES = { id: 'guides', title: 'Guides' }

export const guideAddress = (name: string): string => `/docs/${GUIDES.id}/${name}`

/** A guide links to other guides and to other hosts; files of the checkout are not served. */
export const addressesIn = ({ files, pictures }: Guides): Addresses => ({
  link(target) {
    if (/^(https?:|#|\/)/.test(target)) return target
    const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(target) ?? []
    if (files.some(file => file.name === name)) return guideAddress(name) + anchor
    return target.startsWith('../README.md') ? '/docs#quickstart' : undefined
  },
  picture: target => pictures.get(target)?.address,
})

/** A heading of the second level and its text. */
export interface GuideSection {
  readonly anchor: string
  readonly title: string
  readonly blocks: readonly MarkedToken[]
}

export function sectionsOf({ title, markdown }: GuideFile): GuideSection[] {
  const sections: { anchor: string; title: string; blocks: MarkedToken[] }[] = [
    { anchor: '', title, blocks: [] },
  ]
  for (const block of blocksOf(markdown)) {
    if (block.type === 'heading' && block.depth === 2)
      sections.push({ anchor: slugOf(block.text), title: plain(block.text), blocks: [] })
    else if (block.type !== 'heading' || block.depth > 1) sections.at(-1)?.blocks.push(block)
  }
  return sections
}
