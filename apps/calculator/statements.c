// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Statements, definitions and lines.
#include "translator.h"

#include <string.h>

/// A loop that is being translated. Jumps out of it are written before their targets are known.
/// Until then the operand of each is the place of the operand of the one before it, 0 for none.
struct Loop {
    size_t breaks, continues;
    struct Loop* outer;
};

static void translateStatement(struct Translator* t);

static void skipLines(struct Translator* t) {
    while (translatorAccept(t, '\n'))
        ;
}

static void land(struct Translator* t, size_t jumps, size_t target) {
    while (t->failure == NULL && jumps != 0) {
        const size_t before = t->code->words[jumps];
        translatorSetTarget(t, jumps, target);
        jumps = before;
    }
}

static void translateBody(struct Translator* t, struct Loop* loop) {
    loop->outer = t->loop;
    t->loop = loop;
    skipLines(t);
    translateStatement(t);
    t->loop = loop->outer;
}

static void translateWhile(struct Translator* t) {
    struct Loop loop = {0, 0, NULL};
    const size_t again = translatorHere(t);
    translatorExpect(t, '(');
    translateExpression(t);
    translatorExpect(t, ')');
    loop.breaks = translatorEmit(t, kJumpIfZero, 0);
    translateBody(t, &loop);
    land(t, loop.continues, again);
    translatorEmit(t, kJump, again);
    land(t, loop.breaks, translatorHere(t));
}

/// One of the three of a `for`, none if nothing stands there; its value is dropped unless it is
/// the condition.
static int translatePart(struct Translator* t, int end, int isCondition) {
    if (t->lexer.word == end) {
        translatorNext(t);
        return 0;
    }
    translateExpression(t);
    if (!isCondition)
        translatorEmit(t, kDrop, 0);
    translatorExpect(t, end);
    return 1;
}

static void translateFor(struct Translator* t) {
    struct Loop loop = {0, 0, NULL};
    translatorExpect(t, '(');
    translatePart(t, ';', 0);
    const size_t condition = translatorHere(t);
    if (translatePart(t, ';', 1))
        loop.breaks = translatorEmit(t, kJumpIfZero, 0);
    const size_t toBody = translatorEmit(t, kJump, 0);
    const size_t step = translatorHere(t);
    translatePart(t, ')', 0);
    translatorEmit(t, kJump, condition);
    translatorSetTarget(t, toBody, translatorHere(t));
    translateBody(t, &loop);
    land(t, loop.continues, step);
    translatorEmit(t, kJump, step);
    land(t, loop.breaks, translatorHere(t));
}

static void translateIf(struct Translator* t) {
    translatorExpect(t, '(');
    translateExpression(t);
    translatorExpect(t, ')');
    const size_t toElse = translatorEmit(t, kJumpIfZero, 0);
    skipLines(t);
    translateStatement(t);
    if (translatorAccept(t, kElse)) {
        const size_t toEnd = translatorEmit(t, kJump, 0);
        translatorSetTarget(t, toElse, translatorHere(t));
        skipLines(t);
        translateStatement(t);
        translatorSetTarget(t, toEnd, translatorHere(t));
    } else {
        translatorSetTarget(t, toElse, translatorHere(t));
    }
}

static void translateLeave(struct Translator* t, int isBreak) {
    if (t->loop == NULL) {
        translatorFail(t, isBreak ? "break outside of a loop" : "continue outside of a loop");
        return;
    }
    size_t* jumps = isBreak ? &t->loop->breaks : &t->loop->continues;
    *jumps = translatorEmit(t, kJump, *jumps);
}

static void translateReturn(struct Translator* t) {
    if (t->function == NULL) {
        translatorFail(t, "return outside of a function");
        return;
    }
    const int word = t->lexer.word;
    if (word == ';' || word == '\n' || word == '}' || word == kElse) {
        translatorEmit(t, kPushOne, 0);
        translatorEmit(t, kNot, 0);
    } else {
        translateExpression(t);
    }
    translatorEmit(t, kGoBack, 0);
}

/// A string of `print`, with its escapes taken for what they stand for.
static void translatePrinted(struct Translator* t) {
    static const char kEscapes[] = "a\ab\bf\fn\nr\rt\tq\"";
    const char* from = t->lexer.text;
    const size_t text = translatorText(t, from, t->lexer.length);
    if (t->failure != NULL)
        return;
    struct Text* copy = t->code->texts[text];
    size_t length = 0;
    for (size_t i = 0; i < t->lexer.length; ++i) {
        char c = from[i];
        if (c == '\\' && i + 1 < t->lexer.length) {
            c = from[++i];
            for (size_t e = 0; e + 1 < sizeof kEscapes; e += 2) {
                if (kEscapes[e] == c) {
                    c = kEscapes[e + 1];
                    break;
                }
            }
        }
        copy->bytes[length++] = c;
    }
    copy->length = length;
    translatorEmit(t, kWriteText, text);
    translatorNext(t);
}

static void translatePrint(struct Translator* t) {
    do {
        if (t->lexer.word == kString) {
            translatePrinted(t);
        } else {
            translateExpression(t);
            translatorEmit(t, kWrite, 0);
        }
    } while (translatorAccept(t, ','));
}

static void translateBlock(struct Translator* t) {
    while (t->failure == NULL && t->lexer.word != '}') {
        if (translatorAccept(t, ';') || translatorAccept(t, '\n'))
            continue;
        translateStatement(t);
        if (t->lexer.word != ';' && t->lexer.word != '\n' && t->lexer.word != '}')
            translatorFail(t, "syntax error");
    }
    translatorExpect(t, '}');
}

/// A word of its own that begins a statement; answers 0 if it is none.
static int translateKeyword(struct Translator* t, int word) {
    static void (*const kStatements[])(struct Translator*) = {
        [kFor - kFirstKeyword] = translateFor,     [kIf - kFirstKeyword] = translateIf,
        [kPrint - kFirstKeyword] = translatePrint, [kReturn - kFirstKeyword] = translateReturn,
        [kWhile - kFirstKeyword] = translateWhile,
    };
    if (word == kBreak || word == kContinue) {
        translatorNext(t);
        translateLeave(t, word == kBreak);
    } else if (word == kHalt || word == kQuit) {
        translatorNext(t);
        t->quit |= word == kQuit;
        translatorEmit(t, kHaltNow, 0);
    } else if (word >= kFirstKeyword && word <= kWhile && kStatements[word - kFirstKeyword]) {
        translatorNext(t);
        kStatements[word - kFirstKeyword](t);
    } else {
        return 0;
    }
    return 1;
}

static void translateStatement(struct Translator* t) {
    if (!translatorEnter(t)) {
        --t->depth;
        return;
    }
    if (t->lexer.word == kString) {
        const size_t text = translatorText(t, t->lexer.text, t->lexer.length);
        translatorEmit(t, kWriteText, text);
        translatorNext(t);
    } else if (translatorAccept(t, '{')) {
        translateBlock(t);
    } else if (t->lexer.word != ';' && !translateKeyword(t, t->lexer.word)) {
        const int assigned = translateExpression(t);
        translatorEmit(t, assigned ? kDrop : kShow, 0);
    }
    --t->depth;
}

static void addLocal(struct Translator* t) {
    struct Function* function = t->function;
    if (t->lexer.word != kName) {
        translatorFail(t, "syntax error");
        return;
    }
    struct Local local = {translatorName(t), 0};
    translatorNext(t);
    if (translatorAccept(t, '[')) {
        translatorExpect(t, ']');
        local.isArray = 1;
    }
    for (size_t i = 0; i < function->localCount; ++i) {
        if (function->locals[i].name == local.name && function->locals[i].isArray == local.isArray)
            translatorFail(t, "a name is there twice");
    }
    if (t->failure != NULL)
        return;
    if (!poolGrow(t->arithmetic->pool, &function->locals, function->localCount, 1, sizeof local,
                  &function->localRoom)) {
        translatorFail(t, "out of memory");
        return;
    }
    function->locals[function->localCount++] = local;
}

static void addLocals(struct Translator* t) {
    do
        addLocal(t);
    while (translatorAccept(t, ','));
}

/// What stands after a function's name.
static void translateFunction(struct Translator* t) {
    translatorExpect(t, '(');
    if (!translatorAccept(t, ')')) {
        addLocals(t);
        translatorExpect(t, ')');
    }
    t->function->parameterCount = t->function->localCount;
    skipLines(t);
    translatorExpect(t, '{');
    skipLines(t);
    while (translatorAccept(t, kAuto)) {
        addLocals(t);
        while (translatorAccept(t, ';') || translatorAccept(t, '\n'))
            ;
    }
    translateBlock(t);
    translatorEmit(t, kPushOne, 0);
    translatorEmit(t, kNot, 0);
    translatorEmit(t, kGoBack, 0);
}

static void translateDefinition(struct Translator* t) {
    struct Arithmetic* arithmetic = t->arithmetic;
    if (t->lexer.word != kName) {
        translatorFail(t, "syntax error");
        return;
    }
    const uint32_t name = translatorName(t);
    translatorNext(t);
    struct Function* function = poolAllocate(arithmetic->pool, sizeof *function);
    if (function == NULL) {
        translatorFail(t, "out of memory");
        return;
    }
    *function = (struct Function){.localCount = 0};
    struct Code* line = t->code;
    t->code = &function->code;
    t->function = function;
    translateFunction(t);
    t->code = line;
    t->function = NULL;
    t->loop = NULL;
    if (t->failure == NULL) {
        struct Function* before = t->names->all[name]->function;
        t->names->all[name]->function = function;
        function = before;
    }
    functionDestroy(arithmetic, function);
}

int translatorLine(struct Translator* t) {
    while (translatorAccept(t, '\n') || translatorAccept(t, ';'))
        ;
    if (t->lexer.word == kEnd)
        return 0;
    if (translatorAccept(t, kDefine)) {
        translateDefinition(t);
    } else {
        translateStatement(t);
        while (translatorAccept(t, ';')) {
            if (t->lexer.word != '\n' && t->lexer.word != kEnd)
                translateStatement(t);
        }
    }
    if (t->lexer.word != '\n' && t->lexer.word != kEnd)
        translatorFail(t, "syntax error");
    return 1;
}
