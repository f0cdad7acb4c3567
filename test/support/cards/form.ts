type Tree = { [name: string]: string | Tree }

/** Decodes `a[b][0][c]=1` as Stripe does; a list is an object with the names 0, 1, and so on. */
export function formTree(text: string): Tree {
  const tree: Tree = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter(part => part !== '')
    const last = path.pop() ?? ''
    const parent = path.reduce((node, part) => childOf(node, part), tree)
    parent[last] = value
  }
  return tree
}

function childOf(node: Tree, part: string): Tree {
  const child = node[part]
  if (typeof child === 'object') return child
  const made: Tree = {}
  node[part] = made
  return made
}

export const listOf = (tree: Tree | string | undefined): unknown[] =>
  typeof tree === 'object' ? Object.values(tree) : []
