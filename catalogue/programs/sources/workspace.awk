# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes a workspace of Code::Blocks into the current folder. Its one project has `bytes` bytes of C++ or
# a little more, with a header and a source for each class. Classes derive from earlier ones and use
# them. The same seed gives the same files. Prints the number of files, and of names in the headers.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
function word(    letters, text) {
    text = ""
    for (letters = 3 + number(7); letters > 0; --letters) text = text sprintf("%c", 97 + number(26))
    return text
}
function sentence(    words, text) {
    text = ""
    for (words = 4 + number(9); words > 0; --words) text = text " " word()
    return text "."
}
function kind() { return kinds[1 + number(many)] }
function part(n) { return "part" n % 20 }
function begin(file) {
    path = file
    put("//" sentence())
    put("//" sentence())
    units = units "\t\t<Unit filename=\"" file "\" />\n"
    ++files
}
function put(line) {
    print line >path
    size += length(line) + 1
}
function declare(n,    k, parent, base) {
    begin("Thing" n ".h")
    put("#ifndef THING" n "_H\n#define THING" n "_H\n")
    put("#include <map>\n#include <string>\n#include <vector>")
    parent = n > 8 && number(3) ? 1 + number(n - 1) : 0
    other = n > 1 ? 1 + number(n - 1) : 0
    if (parent) put("#include \"Thing" parent ".h\"")
    if (other && other != parent) put("#include \"Thing" other ".h\"")
    put("\nnamespace " part(n) "\n{\n\n/**" sentence() " */\nenum State" n "\n{")
    for (k = 2 + number(6); k > 0; --k) {
        put("    st" n word() k ", /**<" sentence() " */")
        ++names
    }
    base = parent ? " : public " part(parent) "::Thing" parent : ""
    put("};\n\n/**" sentence() "\n *" sentence() " */\nclass Thing" n base "\n{\npublic:")
    put("    Thing" n "();\n    virtual ~Thing" n "();\n")
    names += 4
    methods = 4 + number(20)
    for (k = 1; k <= methods; ++k) {
        gives[k] = kind()
        called[k] = word() k
        takes[k] = "const " kind() "& " word() (number(2) ? ", " kind() " " word() "2" : "")
        put("    /**" sentence() " */\n    " gives[k] " " called[k] "(" takes[k] ");")
        ++names
    }
    put("\nprotected:")
    for (k = 2 + number(8); k > 0; --k) {
        put("    " kind() " m_" word() k "; //" sentence())
        ++names
    }
    if (other) put("    " part(other) "::Thing" other "* m_pOther;")
    put("};\n\n} // " part(n) "\n\n#endif")
    close(path)
}
function define(n,    k, loops) {
    begin("Thing" n ".cpp")
    put("#include \"Thing" n ".h\"\n#include <algorithm>\n")
    put("#define LOG_" n "(text) Log(__FILE__, __LINE__, text)\n\nnamespace " part(n) "\n{\n")
    put("Thing" n "::Thing" n "()\n{\n}\n\nThing" n "::~Thing" n "()\n{\n}\n")
    for (k = 1; k <= methods; ++k) {
        put("//" sentence() "\n" gives[k] " Thing" n "::" called[k] "(" takes[k] ")\n{")
        put("    " gives[k] " result = " gives[k] "();")
        for (loops = 2 + number(9); loops > 0; --loops) {
            put("    //" sentence() "\n    for (size_t i = 0; i < " number(1000) "; ++i)\n    {")
            put("        const " kind() " " word() loops " = Find" number(100) "(\"" word() "\", i * " number(50) ");")
            put("        if (" word() "(i) == " number(9) ")\n            LOG_" n "(\"" word() "\");\n    }")
        }
        put("    return result;\n}\n")
    }
    put("} // " part(n))
    close(path)
}
function project() {
    print head "<CodeBlocks_project_file>\n\t<FileVersion major=\"1\" minor=\"6\" />\n\t<Project>" >path
    print "\t\t<Option title=\"made\" />\n\t\t<Option pch_mode=\"2\" />\n\t\t<Option compiler=\"gcc\" />" >path
    print "\t\t<Build>\n\t\t\t<Target title=\"all\">\n\t\t\t\t<Option output=\"made\" />" >path
    print "\t\t\t\t<Option type=\"1\" />\n\t\t\t\t<Option compiler=\"gcc\" />\n\t\t\t</Target>\n\t\t</Build>" >path
    print units "\t\t<Extensions />\n\t</Project>\n</CodeBlocks_project_file>" >path
    close(path)
}
function workspace() {
    print head "<CodeBlocks_workspace_file>\n\t<Workspace title=\"made\">" >path
    print "\t\t<Project filename=\"made.cbp\" active=\"1\" />\n\t</Workspace>\n</CodeBlocks_workspace_file>" >path
    close(path)
}
BEGIN {
    state = seed
    many = split("int bool double std::string std::vector<int> std::vector<std::string> std::map<std::string,int> size_t", kinds, " ")
    head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\" ?>\n"
    for (n = 1; size < bytes; ++n) {
        declare(n)
        define(n)
    }
    path = "made.cbp"
    project()
    path = "made.workspace"
    workspace()
    print files, names
}
