import './mandates/inside-or-outside.ts'
