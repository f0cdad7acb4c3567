import './console-pages/language.ts'
